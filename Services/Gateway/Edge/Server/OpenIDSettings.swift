/// The object `gateway.admin.openIDConnect`: the identity provider at which administrators sign in, and what its claims come to.
public struct OpenIDSettings: Sendable {
    public enum Role: String, Decodable, Sendable, CaseIterable { case viewer, editor, `operator` }

    /// The token endpoint learns which client asks in one of these ways (OpenID Connect Core §9).
    public enum ClientAuthentication: String, Decodable, Sendable { case basic, post }

    /// The provider's name, as the sign-in page writes it; 1 to 60 characters.
    public var name: String
    /// `iss`, octet by octet; its discovery document is below it. HTTPS, except at loopback.
    public var issuer: String
    public var clientID: String
    /// Path of the file with the client's secret, relative to the settings file; white space around it does not count.
    public var clientSecretFile: String
    public var clientAuthentication: ClientAuthentication
    /// Scheme, host and port by which browsers reach the console; `<origin>/console/sign-in/return` is the redirect URI to register.
    public var origin: String
    public var scopes: [String]
    /// The claim that names the person in the audit log. `email` counts only with `email_verified`; without it the name is `sub`.
    public var nameClaim: String
    /// The claim with the values that `roles` maps; a dot leads into an object, as in `realm_access.roles`.
    public var roleClaim: String
    public var roles: [String: Role]
    /// The claim with the values that `programmers` maps; not read for operators.
    public var programmerClaim: String
    /// Programmers' ids by value.
    public var programmers: [String: [String]]

    /// Entries of a mapping.
    private static let most = 1000

    /// The first problem: key below `openIDConnect` and text.
    var problem: (key: String, text: String)? {
        guard (1...60).contains(name.count), !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return ("name", "must have 1 to 60 characters")
        }
        guard Self.isSafe(issuer), !issuer.utf8.contains(UInt8(ascii: "?")) else {
            return ("issuer", "must be https://host/path without query and fragment; http is for loopback alone")
        }
        guard Self.isWord(clientID) else { return ("clientID", "must have 1 to 255 characters, without spaces") }
        guard let address = WebOrigin(origin), address.description == origin, Self.isSafe(origin) else {
            return ("origin", "must be https://host[:port] in small letters, without a path or a slash at the end; http is for loopback alone")
        }
        guard scopes.count <= 20, scopes.contains("openid"), scopes.allSatisfy(Self.isWord) else {
            return ("scopes", "must be at most 20 words, one of them openid")
        }
        for (key, claim) in [("nameClaim", nameClaim), ("roleClaim", roleClaim), ("programmerClaim", programmerClaim)] where !Self.isWord(claim) {
            return (key, "must be the name of a claim")
        }
        return mappingProblem
    }

    private var mappingProblem: (key: String, text: String)? {
        guard (1...Self.most).contains(roles.count) else {
            return ("roles", "must map at least one value of the claim \(roleClaim) to viewer, editor or operator; nobody could sign in")
        }
        guard programmers.count <= Self.most else { return ("programmers", "must have at most \(Self.most) values") }
        for (value, ids) in programmers.sorted(by: { $0.key < $1.key }) where !(1...100).contains(ids.count) || !ids.allSatisfy(Self.isProgrammer) {
            return ("programmers", "must map '\(value)' to 1 to 100 ids of programmers")
        }
        if programmers.isEmpty, let bound = roles.first(where: { $0.value != .operator }) {
            return ("programmers", "must map values of the claim \(programmerClaim) to programmers: the role of '\(bound.key)' is bound to some")
        }
        return nil
    }

    /// HTTPS, or plain HTTP to this machine; no user information, no fragment.
    package static func isSafe(_ url: String) -> Bool {
        guard url.utf8.count <= 2048, url.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\") }),
            let origin = WebOrigin(url)
        else { return false }
        return origin.scheme == "https" || GatewaySettings.isLoopback(origin.host.filter { $0 != "[" && $0 != "]" })
    }

    private static func isWord(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    private static func isProgrammer(_ id: String) -> Bool { isWord(id) && id.utf8.count <= 128 && !id.utf8.contains(UInt8(ascii: "*")) }
}

extension OpenIDSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case name, issuer, clientID, clientSecretFile, clientAuthentication, origin, scopes, nameClaim, roleClaim, roles, programmerClaim, programmers
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try container.decodeIfPresent(String.self, forKey: .name) ?? "the identity provider",
            issuer: try container.decode(String.self, forKey: .issuer), clientID: try container.decode(String.self, forKey: .clientID),
            clientSecretFile: try container.decode(String.self, forKey: .clientSecretFile),
            clientAuthentication: try container.decodeIfPresent(ClientAuthentication.self, forKey: .clientAuthentication) ?? .basic,
            origin: try container.decode(String.self, forKey: .origin),
            scopes: try container.decodeIfPresent([String].self, forKey: .scopes) ?? ["openid", "email"],
            nameClaim: try container.decodeIfPresent(String.self, forKey: .nameClaim) ?? "email",
            roleClaim: try container.decodeIfPresent(String.self, forKey: .roleClaim) ?? "roles",
            roles: try container.decode([String: Role].self, forKey: .roles),
            programmerClaim: try container.decodeIfPresent(String.self, forKey: .programmerClaim) ?? "programmers",
            programmers: try container.decodeIfPresent([String: [String]].self, forKey: .programmers) ?? [:])
    }
}
