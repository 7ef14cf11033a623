"use strict";
(() => {
  document.documentElement.classList.add("js");
  const search = document.getElementById("search");
  if (!search) return;
  const shown = document.getElementById("shown");
  const boxes = [...document.querySelectorAll("input[name=verdict]")];
  const calls = [...document.querySelectorAll(".call")].map((item) => ({
    item,
    text: item.textContent.toLowerCase(),
    verdict: item.dataset.verdict,
    rules: item.dataset.rules.split("\n"),
    tool: item.dataset.tool,
  }));
  const days = [...document.querySelectorAll(".day")];
  // Set by a link of the rule table or the heat map; typing goes back to plain words.
  let exact = null;

  const matches = (call, words) =>
    (exact === null ||
      (call.rules.includes(exact.rule) && (exact.tool === null || call.tool === exact.tool))) &&
    !boxes.some((box) => !box.checked && box.value === call.verdict) &&
    words.every((word) => call.text.includes(word));

  const apply = () => {
    const words = exact === null ? search.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
    let count = 0;
    for (const call of calls) {
      const keep = matches(call, words);
      call.item.hidden = !keep;
      count += keep;
    }
    for (const day of days) {
      let next = day.nextElementSibling;
      while (next && !next.classList.contains("day") && next.hidden) next = next.nextElementSibling;
      day.hidden = !next || next.classList.contains("day");
    }
    shown.textContent = `${count} of ${calls.length} shown`;
  };

  search.addEventListener("input", () => {
    exact = null;
    apply();
  });
  for (const box of boxes) box.addEventListener("change", apply);
  for (const link of document.querySelectorAll("[data-pick]"))
    link.addEventListener("click", () => {
      exact = { rule: link.dataset.pick, tool: link.dataset.of ?? null };
      search.value = exact.tool === null ? exact.rule : `${exact.rule} ${exact.tool}`;
      for (const box of boxes) box.checked = true;
      apply();
    });

  const step = (by) => {
    const rows = calls.filter((call) => !call.item.hidden).map((call) => call.item.querySelector("summary"));
    if (!rows.length) return;
    const at = rows.indexOf(document.activeElement);
    const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target === search;
    if (typing && event.key === "Escape") {
      search.value = "";
      exact = null;
      apply();
      search.blur();
    } else if (typing && event.key === "Enter") {
      event.preventDefault();
      step(1);
    } else if (!typing && event.key === "/") {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (!typing && event.key === "j") step(1);
    else if (!typing && event.key === "k") step(-1);
  });

  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    const details = target && target.querySelector("details");
    if (!details) return;
    target.hidden = false;
    details.open = true;
    target.scrollIntoView({ block: "center" });
  };
  window.addEventListener("hashchange", open);
  apply();
  open();
})();
