const shown = document.getElementById("countdown");
const button = document.querySelector("form button");
const end = Date.now() + Number(shown.textContent) * 1000;
button.disabled = true;
const timer = setInterval(() => {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    shown.textContent = String(left);
    if (left > 0) return;
    button.disabled = false;
    clearInterval(timer);
}, 250);
