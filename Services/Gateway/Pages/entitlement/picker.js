// The default dialog.
// The documented default dialog, where the page has none of its own.
const WORDS = {
    en: ["Choose your TV provider", "Search", "Cancel"], de: ["TV-Anbieter wählen", "Suchen", "Abbrechen"],
    es: ["Elija su proveedor de TV", "Buscar", "Cancelar"], fr: ["Choisissez votre fournisseur TV", "Rechercher", "Annuler"],
    pt: ["Escolha a sua operadora de TV", "Pesquisar", "Cancelar"],
};
function element(name, style, content = {}) {
    const made = Object.assign(document.createElement(name), content);
    // Property by property: a strict content policy refuses the attribute `style`.
    Object.assign(made.style, style);
    return made;
}
function openPicker(providers, done) {
    const [title, search, cancel] = WORDS[(document.documentElement.lang || navigator.language).slice(0, 2).toLowerCase()] || WORDS.en;
    const dialog = element("dialog", {
        font: "16px/1.4 system-ui, sans-serif", width: "22em", maxWidth: "92vw", padding: "1.25em", border: "1px solid #767676", borderRadius: "8px",
        color: "#111", background: "#fff",
    });
    dialog.setAttribute("aria-label", title);
    const button = { font: "inherit", display: "flex", alignItems: "center", width: "100%", minHeight: "44px", padding: "0 .75em", margin: "0 0 .5em",
        border: "1px solid #767676", borderRadius: "6px", color: "#111", background: "#f4f4f4", cursor: "pointer" };
    const list = element("div", { maxHeight: "55vh", overflowY: "auto" });
    for (const provider of providers) {
        const entry = element("button", button, { type: "button" });
        if (provider.logoURL) {
            entry.append(element("img", { maxHeight: "28px", maxWidth: "72px", margin: "0 .75em 0 0" }, {
                src: provider.logoURL, alt: "", referrerPolicy: "no-referrer", onerror: event => event.target.remove(),
            }));
        }
        entry.append(provider.displayName);
        entry.addEventListener("click", () => end(provider.ID));
        list.append(entry);
    }
    const field = element("input", { font: "inherit", width: "100%", boxSizing: "border-box", minHeight: "44px", padding: "0 .75em", margin: "0 0 .75em" }, {
        type: "search", placeholder: search,
    });
    field.setAttribute("aria-label", search);
    field.addEventListener("input", () => {
        const wanted = field.value.trim().toLowerCase();
        for (const entry of list.children) entry.style.display = entry.textContent.toLowerCase().includes(wanted) ? "flex" : "none";
    });
    const leave = element("button", { ...button, margin: "0", justifyContent: "center", background: "#fff" }, { type: "button", textContent: cancel });
    leave.addEventListener("click", () => end(null));
    dialog.addEventListener("cancel", event => {
        event.preventDefault();
        end(null);
    });
    dialog.append(element("h2", { font: "600 20px/1.3 system-ui, sans-serif", margin: "0 0 .75em" }, { textContent: title }));
    if (providers.length > 8) dialog.append(field);
    dialog.append(list, leave);
    const close = () => {
        if (dialog.open) dialog.close();
        dialog.remove();
    };
    function end(id) {
        close();
        done(id);
    }
    document.body.append(dialog);
    dialog.showModal();
    return close;
}
