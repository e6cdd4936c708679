internal import CatalogueFiles

/// The properties of an MVPD's sign-in that have fields, by the names that explanations of sign-ins give them.
enum SignInFields {
    static func groups(of mvpd: JsonTree) -> [FormGroup] {
        (mvpd["saml"] == nil ? [] : [saml]) + (mvpd["oauth"] == nil ? [] : [oauth])
    }

    private static let saml = FormGroup(
        title: "Sign-in by SAML",
        fields: [
            FormField("saml.idpEntityId", "Issuer (entity id) of the MVPD", .text),
            FormField("saml.ssoUrl", "Address of its single sign-on service", .text),
            FormField(
                "saml.signaturePolicy", "What must be signed",
                .choice([("", "as usual (assertion)"), ("assertion", "assertion"), ("response", "response"), ("both", "both")])),
            FormField(
                "saml.signatureAlgorithms", "Signature algorithms", .lines,
                hint: "Their URIs, one in each line; empty: those with SHA-256 and longer."),
            FormField("saml.legacySha1Until", "SHA-1 is accepted until", .text, hint: "Such as 2031-03-04; empty: never."),
            FormField(
                "saml.encryption", "Encrypted assertions", .choice([("", "as usual (optional)"), ("optional", "optional"), ("required", "required")])),
            FormField("saml.nameIdFormat", "Format of the NameID", .text, hint: "A URI; empty: persistent."),
            FormField("saml.guidAttributeName", "Attribute with the person's id", .text, hint: "Empty: the NameID."),
            FormField("saml.clockSkew", "Tolerance of clocks, in seconds", .number, hint: "1 to 600; empty: 60."),
            FormField("saml.maxResponseAge", "Oldest response, in seconds", .number, hint: "1 to 3600; empty: 300."),
            FormField("saml.forceAuthn", "Each sign-in asks for the password", .toggle(usually: false)),
            FormField(
                "saml.allowMissingCookie", "Accept browsers without the sign-in cookie", .toggle(usually: false),
                hint: "For embedded browsers that lose it."),
        ])

    private static let oauth = FormGroup(
        title: "Sign-in by OAuth or OpenID Connect",
        fields: [
            FormField("oauth.issuer", "Issuer", .text, hint: "As in the MVPD's discovery document, to the letter."),
            FormField("oauth.authorizeUrl", "Authorization endpoint", .text), FormField("oauth.tokenUrl", "Token endpoint", .text),
            FormField("oauth.jwksUrl", "Address of its keys", .text), FormField("oauth.profileUrl", "Address of the profile", .text),
            FormField("oauth.clientId", "Our client id", .text),
            FormField("oauth.clientSecretReference", "Name of our secret", .text, hint: "The secret itself lies with the authentication service."),
            FormField("oauth.scopes", "Scopes", .lines, hint: "One in each line, such as openid."),
            FormField("oauth.userIdClaim", "Claim with the person's id", .text, hint: "Empty: sub."),
            FormField(
                "oauth.callback", "Where it sends browsers back",
                .choice([
                    ("", "as it is (a new record: its own address)"), ("own", "the record's own address"), ("shared", "the shared address of before"),
                ]),
                hint: "The MVPD must have registered it. With the shared one, a hostile provider may have people sign in for others."),
            FormField(
                "oauth.requiresIss", "Its answers must name it (iss)", .toggle(usually: false),
                hint: "As its discovery document announces (RFC 9207)."),
            FormField("oauth.logoutUrl", "Address of its logout", .text, hint: "end_session_endpoint of its discovery document."),
            FormField(
                "oauth.logoutReturn", "Where its logout sends browsers",
                .choice([("", "straight to the app"), ("own", "to our own address, then to the app")]),
                hint: "The MVPD must have registered our address, to the letter. Most providers of OpenID demand it."),
            FormField("oauth.clockSkew", "Tolerance of clocks, in seconds", .number, hint: "1 to 600."),
            FormField("oauth.totalTimeoutMs", "Longest wait for the MVPD, in milliseconds", .number, hint: "10 to 60000."),
        ])

    /// Where the settings are that an explanation names.
    /// - Parameters:
    ///   - text: What helps, with names such as `saml.idpEntityId`.
    ///   - mvpd: The MVPD's id.
    static func links(in text: String, of mvpd: String) -> [[String: String]] {
        let known = (saml.fields + oauth.fields).map(\.name)
        var seen: Set<OctetText> = []
        return names(in: text).filter { seen.insert(OctetText($0)).inserted }.compactMap { name in
            if known.contains(name) {
                let address = ConsoleCollection.mvpds.address(of: mvpd, "edit")
                return ["settingName": name, "settingAddress": "\(address)#\(FormContent.id(name))"]
            }
            guard jsonOnly.contains(name) else { return nil }
            return ["settingName": name, "settingAddress": ConsoleCollection.mvpds.address(of: mvpd, "json") + "#json"]
        }
    }

    /// What has no field, because it is long.
    private static let jsonOnly = ["saml.signingCertificates", "oauth.clientAuthentication"]

    /// Words that look like a setting. The text may hold what an MVPD sent: nothing becomes a link that is no setting.
    private static func names(in text: String) -> [String] {
        text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".")) }.map { word in
            word.hasSuffix(".") ? String(word.dropLast()) : String(word)
        }
    }
}
