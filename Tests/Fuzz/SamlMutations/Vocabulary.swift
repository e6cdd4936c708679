/// Words that mean something to a reader of SAML.
enum Vocabulary {
    static let values = [
        "", "attacker", "k3Yq-0092", "_assertion-1", "_response-1", "_request-1", "_request-2", "#_assertion-1", "#_response-1", "1.1", "2.0", "true",
        "https://idp.harbor.example/metadata", "https://evil.example", "https://saml.sp.pass.example", "2031-03-04T10:00:00Z", "2099-01-01T00:00:00Z",
        "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key", "urn:oasis:names:tc:SAML:2.0:status:Responder", "&#107;3Yq-0091", " k3Yq-0091 ", "&#0;",
        "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress", "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
    ]
    static let attributeNames = [
        "ID", "Id", "id", "xml:id", "Name", "Version", "Destination", "InResponseTo", "Recipient", "NotOnOrAfter", "NotBefore", "URI", "Algorithm",
        "Format", "NameQualifier", "SessionNotOnOrAfter", "saml:Name", "xsi:type", "xml:base", "xmlns", "xmlns:saml",
    ]
    static let elementNames = [
        "saml:Assertion", "saml:EncryptedAssertion", "saml:Advice", "saml:NameID", "saml:EncryptedID", "saml:Issuer", "saml:AttributeValue",
        "saml:Conditions", "saml:Condition", "saml:OneTimeUse", "samlp:Response", "samlp:Status", "samlp:Extensions", "ds:Signature", "ds:Object",
        "ds:Reference", "ds:SignedInfo", "ds:Manifest", "x", "ds:KeyInfo", "saml:AttributeStatement", "saml:AuthnStatement",
    ]
    static let splinters = [
        "<!-- -->", "<!---->", "<![CDATA[]]>", "<![CDATA[x]]>", "<?x y?>", "&amp;", "&#x20;", "&#9;", "&x;", "&lt;", "<saml:x/>", "<b>x</b>", "\u{0}",
        "\u{FFFE}",
        " ", "\n", "\u{200B}", "]]>",
    ]
    static let wrappings = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?x ", "?>"), ("<b>", "</b>"), ("<saml:NameID>", "</saml:NameID>")]
    static let whiteSpace = [" ", "\n", "\t", "\r\n", "\r", "&#13;", "\u{A0}", "\u{2028}", "  \n  "]
    static let markup = [
        "<!-- x -->", "<?x y?>", "<![CDATA[x]]>", "x", "&amp;", "<x/>", "<x xmlns=\"\"/>", "<samlp:Extensions/>", "<saml:Advice/>",
        "<saml:Assertion/>",
        "<saml:EncryptedAssertion/>", "<ds:Signature xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\"/>", "<ds:Object/>",
        "<saml:Audience>https://evil.example</saml:Audience>", "<saml:OneTimeUse/>", "<saml:ProxyRestriction/>", "<saml:Condition/>",
        "<saml:NameID>attacker</saml:NameID>",
        "<saml:Attribute Name=\"householdID\"><saml:AttributeValue>other</saml:AttributeValue></saml:Attribute>",
        "<saml:AttributeValue>other</saml:AttributeValue>", "<!DOCTYPE x>", "<!ENTITY x \"y\">",
        "<samlp:Status><samlp:StatusCode Value=\"urn:oasis:names:tc:SAML:2.0:status:Success\"/></samlp:Status>",
    ]
    static let prologues = [
        "<!DOCTYPE a>", "<!DOCTYPE a [<!ENTITY x \"y\">]>", "<!DOCTYPE a SYSTEM \"file:///etc/hostname\">", "<?xml version=\"1.0\"?>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<?xml version=\"1.0\" encoding=\"UTF-16\"?>", "<?xml version=\"1.0\" encoding=\"UTF-7\"?>",
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>", "<?xml version=\"1.1\"?>", "\u{FEFF}", " ", "\n", "<!-- x -->", "<?x y?>", "x", "<a/>",
        "<?xml version=\"1.0\" standalone=\"yes\"?>", "\u{0}",
    ]
    static let trailers = ["<a/>", "x", "<!-- x -->", "<?x y?>", "\u{0}", "\n", " ", "\u{0}<a/>", "<!DOCTYPE a>", "&amp;"]
    static let namespaces = [
        "", "urn:oasis:names:tc:SAML:2.0:assertion", "urn:oasis:names:tc:SAML:2.0:protocol", "urn:oasis:names:tc:SAML:1.0:assertion",
        "http://www.w3.org/2000/09/xmldsig#", "http://www.w3.org/2001/04/xmlenc#", "relative", "urn:x", "http://www.w3.org/XML/1998/namespace",
        "urn:oasis:names:tc:SAML:2.0:assertion#", " urn:oasis:names:tc:SAML:2.0:assertion",
    ]
    static let declarations = [
        " xmlns=\"urn:x\"", " xmlns=\"\"", " xmlns:saml=\"urn:x\"", " xmlns:x=\"relative\"", " xmlns:saml2=\"urn:oasis:names:tc:SAML:2.0:assertion\"",
        " xmlns=\"urn:oasis:names:tc:SAML:2.0:assertion\"", " xmlns:ds=\"urn:x\"", " xmlns:xml=\"http://www.w3.org/XML/1998/namespace\"",
    ]
    static let algorithms = [
        "http://www.w3.org/2000/09/xmldsig#rsa-sha1", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
        "http://www.w3.org/2001/04/xmldsig-more#rsa-md5",
        "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256",
        "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256", "http://www.w3.org/2000/09/xmldsig#hmac-sha1", "http://www.w3.org/2000/09/xmldsig#sha1",
        "http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmlenc#sha512", "http://www.w3.org/2001/10/xml-exc-c14n#",
        "http://www.w3.org/2001/10/xml-exc-c14n#WithComments", "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
        "http://www.w3.org/2000/09/xmldsig#enveloped-signature", "http://www.w3.org/TR/1999/REC-xslt-19991116",
        "http://www.w3.org/TR/1999/REC-xpath-19991116",
        "http://www.w3.org/2000/09/xmldsig#base64", "http://www.w3.org/2001/04/xmlenc#aes128-cbc", "http://www.w3.org/2009/xmlenc11#aes128-gcm",
        "http://www.w3.org/2009/xmlenc11#aes256-gcm", "http://www.w3.org/2001/04/xmlenc#rsa-1_5", "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p",
        "http://www.w3.org/2001/04/xmlenc#tripledes-cbc", "none", "",
    ]
    static let references = [
        "", "#", "#_assertion-1", "#_response-1", "#_other", "#xpointer(/)", "#xpointer(id('_assertion-1'))", "http://127.0.0.1:1/x",
        "file:///etc/hostname", "#%5Fassertion-1", " #_assertion-1", "##_assertion-1",
    ]
    static let signatureParts = [
        "<ds:Object xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\"/>", "<ds:KeyInfo><ds:KeyName>x</ds:KeyName></ds:KeyInfo>",
        "<ds:SignedInfo/>", "<ds:SignatureValue>AAAA</ds:SignatureValue>", "<ds:Object><saml:Assertion/></ds:Object>", "<x/>", "<!-- x -->",
        "<ds:KeyInfo><ds:RetrievalMethod URI=\"file:///etc/hostname\"/></ds:KeyInfo>",
    ]
    static let transforms = [
        "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"/>",
        "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"/>",
        "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xpath-19991116\"><ds:XPath>not(self::text())</ds:XPath></ds:Transform>",
        "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xslt-19991116\"/>", "<ds:Transform/>", "<x/>",
    ]
    static let shells = [
        ("<samlp:Extensions>", "</samlp:Extensions>"), ("<saml:Advice>", "</saml:Advice>"),
        ("<ds:Object xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\">", "</ds:Object>"), ("<x>", "</x>"), ("<!--", "-->"), ("<![CDATA[", "]]>"),
        ("<saml:EncryptedAssertion>", "</saml:EncryptedAssertion>"), ("<saml:Assertion>", "</saml:Assertion>"),
        ("<x xmlns:saml=\"urn:x\">", "</x>"),
    ]
}
