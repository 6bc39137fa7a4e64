// The bar of filters: what is typed or taken off goes to the server, which draws the bar anew.

element.addEventListener("submit", (event) => {
  event.preventDefault();
  trigger("submit", Object.fromEntries(new FormData(event.target)));
});

element.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-off]");
  if (chip) trigger("submit", { off: chip.dataset.off });
});
