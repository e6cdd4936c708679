document.getElementById("apple-answer").submit();
