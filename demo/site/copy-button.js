// Gives each command of the page a button that copies it. There are no buttons without this script, or if the page may
// not use the clipboard.
for (const pre of navigator.clipboard ? document.querySelectorAll("pre") : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.querySelector("code").textContent);
      button.textContent = "Copied";
    } catch {
      // The browser has refused, so the command is selected for a copy by hand.
      getSelection().selectAllChildren(pre.querySelector("code"));
      button.textContent = "Selected";
    }
  });
  button.addEventListener("blur", () => {
    button.textContent = "Copy";
  });
  pre.append(button);
}
