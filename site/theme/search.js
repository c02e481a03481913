// Search over SECTIONS (search/sections.js): what holds every word typed, titles and whole phrases first.
"use strict";

const form = document.querySelector(".search");
const input = document.getElementById("search");
const found = document.getElementById("found");
const MOST = 12;

// How well a section answers: 0 where a word is missing.
function score(section, words) {
  let sum = 0;
  for (const word of words) {
    const inTitle = section.title.toLowerCase().indexOf(word);
    const inText = section.text.toLowerCase().split(word).length - 1;
    if (inTitle < 0 && inText === 0) return 0;
    sum += (inTitle < 0 ? 0 : 50) + Math.min(inText, 10);
  }
  return sum + (section.text.toLowerCase().includes(words.join(" ")) ? 30 : 0);
}

// The text around the first of the words.
function around(section, words) {
  const places = words.map((word) => section.text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const start = Math.max(0, (places.length ? Math.min(...places) : 0) - 60);
  return (start ? "... " : "") + section.text.slice(start, start + 180);
}

function entry(section, words) {
  const item = document.createElement("li");
  const link = item.appendChild(document.createElement("a"));
  link.href = form.dataset.base + "/" + section.place;
  link.textContent = section.title;
  item.appendChild(document.createElement("p")).textContent = around(section, words);
  return item;
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
  found.replaceChildren();
  found.hidden = words.length === 0;
  if (found.hidden) return;
  const ranked = SECTIONS.map((section) => ({ section, points: score(section, words) }))
    .filter((one) => one.points > 0)
    .sort((a, b) => b.points - a.points);
  if (ranked.length === 0) {
    found.appendChild(document.createElement("p")).textContent = "Nothing holds all these words.";
    return;
  }
  const list = found.appendChild(document.createElement("ul"));
  for (const { section } of ranked.slice(0, MOST)) list.appendChild(entry(section, words));
}

input.addEventListener("input", show);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const first = found.querySelector("a");
  if (first) first.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") found.hidden = true;
});
