internal import CatalogueFiles
internal import Contracts
internal import Faults
internal import StrictJson

/// The statements of an OpenID Connect discovery document about an MVPD (OpenID Connect Discovery §3), as a person looks at it.
struct ProviderDiscovery {
    private static let place = "/.well-known/openid-configuration"
    /// Members of the document and of the catalogue's `oauth`.
    private static let addresses: KeyValuePairs<String, String> = [
        "authorization_endpoint": "authorizeUrl", "token_endpoint": "tokenUrl", "jwks_uri": "jwksUrl", "userinfo_endpoint": "profileUrl",
        "end_session_endpoint": "logoutUrl",
    ]

    private let tree: JsonTree
    /// The document was here.
    private let url: String

    /// - Returns: `nil` for what is no JSON object.
    init?(_ document: String, from url: String) {
        guard let node = try? JsonDocument(parsing: Array(document.utf8)).root, case .object = node.content else { return nil }
        tree = JsonTree(node)
        self.url = url
    }

    var contract: ProviderMetadata {
        ProviderMetadata(
            entityID: text("issuer"),
            endpoints: Self.addresses.compactMap { name, _ in
                text(name).isEmpty ? nil : ProviderEndpoint(service: name, location: text(name))
            }, problems: problems, warnings: warnings, entryJson: entry.canonical)
    }

    private func text(_ name: String) -> String { tree[name]?.text ?? "" }

    /// The catalogue's entry for it.
    private var entry: JsonTree {
        var oauth: [String: JsonTree] = ["issuer": .string(text("issuer")), "scopes": .array([.string("openid")])]
        for (name, member) in Self.addresses where !text(name).isEmpty { oauth[member] = .string(text(name)) }
        // A provider that registers us anew registers that address.
        if oauth["logoutUrl"] != nil { oauth["logoutReturn"] = .string("own") }
        if isPostOnly { oauth["clientAuthentication"] = .string("post") }
        // An answer that does not name the provider is then not of it (RFC 9207 §2.4).
        if tree["authorization_response_iss_parameter_supported"] == .bool(true) { oauth["requiresIss"] = .bool(true) }
        return .object(["oauth": .object(oauth)])
    }

    /// Without a word of theirs it is basic.
    private var isPostOnly: Bool {
        let methods = tree["token_endpoint_auth_methods_supported"]?.texts ?? []
        return methods.contains("client_secret_post") && !methods.contains("client_secret_basic")
    }

    private var problems: [FieldProblem] {
        var found: [FieldProblem] = []
        for name in ["issuer", "authorization_endpoint", "token_endpoint"] where text(name).isEmpty {
            found.append(FieldProblem(field: name, message: "is missing"))
        }
        if text("jwks_uri").isEmpty, text("userinfo_endpoint").isEmpty {
            found.append(FieldProblem(field: "jwks_uri", message: "is missing, and so is userinfo_endpoint: nothing says who the person is"))
        }
        for name in ["issuer"] + Self.addresses.map({ $0.key }) where !text(name).isEmpty {
            if let problem = CatalogueURL.urlProblem(text(name)) { found.append(FieldProblem(field: name, message: problem)) }
        }
        // The server of a document speaks for its own issuer alone (§4.3).
        if !text("issuer").isEmpty, url.hasSuffix(Self.place), url != Self.expected(text("issuer")) {
            found.append(FieldProblem(field: "issuer", message: "is '\(text("issuer"))', whose document is at another address than this one"))
        }
        return found
    }

    private static func expected(_ issuer: String) -> String { (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + place }

    private var warnings: [FieldProblem] {
        var found: [FieldProblem] = []
        let methods = tree["token_endpoint_auth_methods_supported"]?.texts ?? []
        if !methods.isEmpty, !methods.contains("client_secret_basic"), !methods.contains("client_secret_post") {
            found.append(
                FieldProblem(field: "token_endpoint_auth_methods_supported", message: "names neither client_secret_basic nor client_secret_post"))
        }
        if let types = tree["subject_types_supported"]?.texts, !types.isEmpty, !types.contains("public") {
            found.append(
                FieldProblem(
                    field: "subject_types_supported",
                    message: "is pairwise: another client of yours would see another user. Keep one client for all channels"))
        }
        if text("end_session_endpoint").isEmpty {
            found.append(FieldProblem(field: "end_session_endpoint", message: "is missing: nobody is logged out at the MVPD"))
        }
        found.append(FieldProblem(field: "clientId", message: "is not in the document: register at the MVPD, keep its secret, and name both"))
        return found
    }
}
