document.getElementById("saml-response").submit();
