// The list of groups begins where one is.
const side = document.querySelector(".side");
const here = side.querySelector("[aria-current]");
if (here) side.scrollTop = here.offsetTop - side.offsetTop - 24;

// Puts a button beside the heading of each example that copies it. Browsers without a clipboard for pages, such as those on plain HTTP elsewhere, show none.
if (navigator.clipboard) {
    const said = document.createElement("p");
    said.className = "unseen";
    said.setAttribute("role", "status");
    document.body.append(said);
    for (const bar of document.querySelectorAll(".bar")) {
        const button = document.createElement("button");
        const heading = bar.closest("section").querySelector("h2").textContent;
        button.type = "button";
        button.className = "copy";
        button.textContent = "Copy";
        button.setAttribute("aria-label", `Copy: ${bar.querySelector("h3").textContent}, ${heading}`);
        button.addEventListener("click", async () => {
            let word = "Copied";
            try {
                await navigator.clipboard.writeText(bar.nextElementSibling.textContent);
            } catch {
                word = "Not copied";
            }
            button.textContent = said.textContent = word;
            setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
        });
        bar.append(button);
    }
}
