// Shown once a reader comes to it: a chart that answers to the mouse takes the place of its SVG.
const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
  if (!entry.isIntersecting) return;
  seen.unobserve(entry.target);
  const still = entry.target.querySelector('svg');
  const spec = JSON.parse(entry.target.querySelector('script').textContent);
  if (spec.width > 0) {
    const beside = still.viewBox.baseVal.width - spec.width;
    spec.width = Math.max(120, entry.target.clientWidth - beside - 4);
  }
  const live = document.createElement('div');
  const tooltip = {disableDefaultStyle: true};
  const asked = {actions: false, ast: true, defaultStyle: false, renderer: 'svg', tooltip};
  vegaEmbed(live, spec, asked).then((drawn) => {
    live.querySelectorAll('[role]').forEach((mark) => mark.removeAttribute('role'));
    still.replaceWith(live);
    entry.target.dispatchEvent(new CustomEvent('drawn', {detail: drawn.view}));
  });
}), {rootMargin: '200px'});
document.querySelectorAll('.chart').forEach((chart) => seen.observe(chart));
