// The table of a comparison follows what is chosen below the map.
const form = document.querySelector('.choose');
if (form) form.parentElement.addEventListener('drawn', ({detail: view}) => {
  form.hidden = false;
  form.addEventListener('change', () => {
    const chosen = new FormData(form), scope = chosen.get('scope') || 'all';
    const methods = chosen.getAll('method');
    view.signal('scope', scope).signal('methods', methods).runAsync();
    for (const row of document.querySelectorAll('#all tbody tr')) {
      const [method, own] = [...row.cells].map((cell) => cell.textContent);
      row.hidden = !(scope === 'all' || scope === own)
        || (methods.length > 0 && !methods.includes(method));
    }
  });
}, true);
