// Narrows the list of providers as one types. Without it the form asks the server for the same.
const field = document.getElementById("q");
const pairs = { "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "ĳ": "ij", "ł": "l", "đ": "d", "ø": "o", "ħ": "h", "ŧ": "t", "ƀ": "b" };
const words = text =>
    text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/[ßæœþðıĳłđøħŧƀ]/g, letter => pairs[letter])
        .replace(/[^\p{L}\p{Nd}]+/gu, " ").trim();
const entries = [...document.querySelectorAll(".providers li")].map(item => {
    const text = words(item.querySelector("a > span:last-child").textContent);
    return { item, text, joined: text.replaceAll(" ", "") };
});
const narrow = () => {
    const wanted = words(field.value).split(" ");
    let count = 0;
    for (const { item, text, joined } of entries) {
        item.hidden = !wanted.every(word => text.includes(word) || joined.includes(word));
        if (!item.hidden) count += 1;
    }
    for (const group of document.querySelectorAll("section")) group.hidden = !group.querySelector("li:not([hidden])");
    document.getElementById("found").hidden = wanted[0] === "" || count === 0;
    document.getElementById("none").hidden = count > 0;
    document.getElementById("count").textContent = String(count);
};
// A list that the server has narrowed lacks what else there is: then the server searches again.
if (field && field.value === "") {
    field.addEventListener("input", narrow);
    field.form.addEventListener("submit", event => {
        event.preventDefault();
        document.querySelector(".providers li:not([hidden]) a")?.focus();
    });
}
// Where a logo is none, or a single point, the letters behind it can be seen.
for (const logo of document.querySelectorAll(".logo img")) {
    logo.addEventListener("load", () => { if (logo.naturalWidth < 2) logo.remove(); });
    logo.addEventListener("error", () => logo.remove());
}
