// Every piece of code that is meant to be taken away has a button that does so.
function selectAll(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}
async function copyOf(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
  } catch {  // an old browser, or one that does not trust files: the selection can be copied all the same
    selectAll(element);
    return document.execCommand("copy");
  }
  return true;
}
for (const code of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "copy";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    button.textContent = (await copyOf(code)) ? "copied" : "select and copy";
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });
  code.before(button);
}
