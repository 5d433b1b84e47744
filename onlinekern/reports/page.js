for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0];
    const turn = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", turn > 0 ? "ascending" : "descending");
    const text = row => row.cells[head.cellIndex].textContent;
    const number = row => parseFloat(text(row).replace(/,/g, ""));
    const numeric = head.classList.contains("number");
    const key = (a, b) => {
      if (!numeric) return turn * text(a).localeCompare(text(b));
      const [x, y] = [number(a), number(b)];
      return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : turn * (x - y);
    };
    body.append(...[...body.rows].sort(key));
  });
}
