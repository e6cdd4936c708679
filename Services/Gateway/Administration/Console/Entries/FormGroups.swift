internal import CatalogueFiles
internal import GatewayEdge

/// The properties of entries that have fields of their own; all others are reached as JSON.
enum FormGroups {
    /// - Parameter tree: The entry; of an MVPD it says by which protocol people sign in.
    static func groups(_ collection: ConsoleCollection, of tree: JsonTree) -> [FormGroup] {
        collection == .mvpds ? mvpd + SignInFields.groups(of: tree) : groups(collection)
    }

    static func groups(_ collection: ConsoleCollection) -> [FormGroup] {
        switch collection {
        case .channels: channel
        case .mvpds: mvpd
        case .integrations: integration
        case .applications: application
        case .programmers: programmer
        case .upstreams: UpstreamFields.groups
        }
    }

    /// The further fields that a new entry needs.
    static func identity(_ collection: ConsoleCollection) -> [FormField] {
        let id = FormField("id", "Id", .text, hint: "Letters, digits, _ and -. It cannot be changed later.")
        return switch collection {
        case .channels: [id, FormField("programmer", "Programmer", .id(of: .programmers), hint: "The programmer's id.")]
        case .mvpds, .upstreams: []
        case .integrations:
            [
                FormField("requestor", "Channel", .id(of: .channels), hint: "The channel's id."),
                FormField("mvpd", "MVPD", .id(of: .mvpds), hint: "The MVPD's id."),
            ]
        case .applications: [id, FormField("programmer", "Programmer", .id(of: .programmers), hint: "The programmer's id.")]
        case .programmers: [id]
        }
    }

    private static let channel = [
        FormGroup(
            title: "General",
            fields: [
                FormField("name", "Display name", .text),
                FormField("defaultRedirectUrl", "Default redirect URL", .text, hint: "Where sign-ins and logouts end that name no other address."),
                FormField("registrationUrl", "Registration URL", .text, hint: "The address that apps show beside a code."),
                FormField("enhancedErrors", "Enhanced errors", .toggle(usually: false), hint: "Errors tell apps what to do next."),
                FormField("confirmsSignIn", "People confirm each sign-in", .toggle(usually: false)),
            ]),
        FormGroup(
            title: "Domains and resources",
            fields: [
                FormField(
                    "domains", "Domains", .lines, hint: "One in each line. Apps and pages of a domain that is taken away cannot sign in any more."),
                FormField("channels", "Resource ids", .lines, hint: "One in each line, for information."),
            ]),
        FormGroup(
            title: "Sign-in pages",
            fields: [
                FormField(
                    "favouriteMvpds", "Favourite MVPDs", .ids(of: .mvpds), hint: "Their ids, in the order in which people see them before all others."
                ),
                FormField("logoUrl", "Logo URL", .text, hint: "https, at most 48 pixels high."),
                FormField(
                    "accentColor", "Colour of buttons and links", .text, hint: "Such as #0b5fad. It is made darker or lighter until it can be read."),
                FormField("headerColor", "Colour behind name and logo", .text, hint: "Such as #16202c."),
                FormField("privacyUrl", "Privacy page", .text, hint: "https. Each page for the channel's viewers links to it."),
                FormField("termsUrl", "Terms of use", .text, hint: "https; likewise."),
                FormField("supportUrl", "Help page", .text, hint: "https; likewise."),
            ]),
        FormGroup(
            title: "Media tokens",
            fields: [
                FormField(
                    "mediaTokenFormat", "Format", .choice([("", "as usual (reference)"), ("reference", "reference"), ("jws", "JWS")])),
                FormField("mediaTokenTtl", "Valid for, in seconds", .number, hint: "1 to 3600; empty: 420."),
            ]),
    ]

    private static let lifetimes = [
        FormField("authnTtl", "Sign-in lasts", .lifetime, hint: "AuthN TTL, a minute to a year."),
        FormField("authzTtl", "Decision lasts", .lifetime, hint: "AuthZ TTL, a minute to a year."),
        FormField("hbaAuthnTtl", "Home-based sign-in lasts", .lifetime, hint: "HBA AuthN TTL; at most as long as a sign-in."),
    ]

    private static let integration = [
        FormGroup(
            title: "State",
            fields: [
                FormField(
                    "enabled", "Enabled", .toggle(usually: true),
                    hint: "Off: viewers of this MVPD can neither sign in to this channel nor watch it once this is pushed.")
            ]),
        FormGroup(title: "Lifetimes, in place of the MVPD's", fields: lifetimes),
        FormGroup(
            title: "Sign-in and decisions",
            fields: [
                FormField("platformSso", "Single sign-on of platforms", .toggle(usually: false), hint: "Where the MVPD takes part in it."),
                FormField("autoSignIn", "Automatic sign-in", .toggle(usually: false)),
                FormField("preflightMaxResources", "Most resources of one preauthorization", .number, hint: "1 to 100; empty: as the MVPD says."),
            ]),
        FormGroup(
            title: "User metadata",
            fields: [
                FormField(
                    "metadataKeys", "Keys that apps get", .metadataKeys,
                    hint: "One in each line, such as userID; zip encrypted: encrypted for the programmer.")
            ]),
    ]

    private static let mvpd = [
        FormGroup(
            title: "General",
            fields: [
                FormField("displayName", "Display name", .text), FormField("logoUrl", "Logo URL", .text, hint: "https, 112 × 33 pixels."),
                FormField("authPerAggregator", "Sign-in for each aggregator", .toggle(usually: false)),
                FormField("authPerBrowserSession", "Sign-in for each browser session", .toggle(usually: false)),
                FormField("passiveAuthnEnabled", "Passive sign-in", .toggle(usually: false)),
            ]),
        FormGroup(title: "Lifetimes", fields: lifetimes),
        FormGroup(
            title: "Sign-in window",
            fields: [
                FormField("iframeRequired", "In an iframe", .toggle(usually: false)),
                FormField("iframeWidth", "Width, in pixels", .number, hint: "100 to 2000, with the height or not at all."),
                FormField("iframeHeight", "Height, in pixels", .number),
            ]),
        FormGroup(
            title: "Test user, who signs in on a schedule",
            fields: [
                FormField(
                    "testSignIn.requestor", "Channel", .id(of: .channels),
                    hint: "The id of a channel that the MVPD is integrated with. All empty: nobody tests."),
                FormField("testSignIn.user", "User", .text, hint: "As it is typed into the MVPD's login page."),
                FormField(
                    "testSignIn.passwordReference", "Name of the password", .text, hint: "The password itself lies with the authentication service."),
                FormField("testSignIn.every", "Every, in seconds", .number, hint: "60 to 86400; empty: 60."),
                FormField(
                    "testSignIn.userField", "Name of the user's field", .text,
                    hint: "In the form of the login page; empty: the text before the password."),
                FormField("testSignIn.passwordField", "Name of the password's field", .text, hint: "Empty: the first field for a password."),
                FormField(
                    "testSignIn.origins", "Other origins of the login", .lines,
                    hint: "Such as https://login.mvpd.example, one in each line. The password goes to no others."),
            ]),
    ]

    private static let application = [
        FormGroup(
            title: "General",
            fields: [
                FormField("name", "Name", .text), FormField("version", "Version", .text),
                FormField("requestors", "Channels", .ids(of: .channels), hint: "Their ids, one in each or several with blanks between."),
                FormField("scopes", "Scopes", .lines, hint: "One in each line, such as api:client:v2."),
                FormField("redirectDomains", "Redirect domains", .lines, hint: "One in each line; at or below a domain of one of the channels."),
            ])
    ]

    private static let programmer = [FormGroup(title: "General", fields: [FormField("name", "Display name", .text)])]
}

/// The properties of an MVPD's sign-in that have fields, by the names that explanations of sign-ins give them.
enum SignInFields {
    /// Those of every protocol.
    static let all = [saml, oauth]

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

    /// Returns where the settings are that an explanation names.
    /// - Parameters:
    ///   - text: The hint, with names such as `saml.idpEntityId`.
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

    /// The values that have no field, because they are long.
    private static let jsonOnly = ["saml.signingCertificates", "oauth.clientAuthentication"]

    /// Words that look like a setting. The text may hold what an MVPD sent: nothing becomes a link that is no setting.
    private static func names(in text: String) -> [String] {
        text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".")) }.map { word in
            word.hasSuffix(".") ? String(word.dropLast()) : String(word)
        }
    }
}
