internal import SandboxKit
internal import Clocks
internal import FoundationEssentials
internal import Synchronization

/// The stand-in for the administrators' identity provider: its clients, its key, and which codes were used.
final class StaffProvider: Sendable {
    static let codeLifetime = Duration.seconds(60)
    static let pageLifetime = Duration.seconds(600)
    /// Seconds.
    private static let tokenLifetime: Int64 = 300

    /// The grant of a code; sealed into it.
    struct Code: Codable, Sendable {
        let request: OAuthRequest
        let email: String
        let identifier: String
    }

    let issuer: String
    let people: [StaffSettings.Person]
    let clients: [String: OAuthProvider.Client]
    let key: OAuthSigningKey
    let seal: Seal
    private let used = Mutex<Set<String>>([])

    init(_ settings: StaffSettings, publicURL: String) throws(SettingsFault) {
        issuer = "\(publicURL)/staff"
        people = settings.people
        var clients: [String: OAuthProvider.Client] = [:]
        for (number, client) in settings.clients.enumerated() {
            let octets = try KeyFile.read(client.secret, key: "staff.clients[\(number)].secret")
            let secret = String(decoding: octets, as: UTF8.self).filter { !$0.isWhitespace }
            if secret.isEmpty { throw SettingsFault(key: "staff.clients[\(number)].secret", problem: "names an empty file: \(client.secret)") }
            clients[client.id] = OAuthProvider.Client(secret: secret, redirectURIs: client.redirectURIs)
        }
        if clients.isEmpty { throw SettingsFault(key: "staff.clients", problem: "names no client") }
        self.clients = clients
        let signing = try KeyFile.signingKey(settings.key, key: "staff.key")
        let certificate = try KeyFile.certificate(settings.certificate, key: "staff.certificate")
        guard signing.matches(certificate) else { throw SettingsFault(key: "staff.key", problem: "does not belong to the certificate") }
        key = try OAuthSigningKey(signing, certificate, place: "staff.key")
        seal = Seal(key: signing)
    }

    /// - Returns: False when the code was used before.
    func use(_ code: Code) -> Bool { used.withLock { $0.insert(code.identifier).inserted } }

    /// The discovery document.
    var discovery: [String: JsonClaim] {
        [
            "issuer": .text(issuer), "authorization_endpoint": .text("\(issuer)/authorize"), "token_endpoint": .text("\(issuer)/token"),
            "jwks_uri": .text("\(issuer)/jwks"), "response_types_supported": .list(["code"]), "subject_types_supported": .list(["public"]),
            "id_token_signing_alg_values_supported": .list(["RS256"]), "code_challenge_methods_supported": .list(["S256"]),
            "scopes_supported": .list(["openid", "email"]),
        ]
    }

    func identityToken(_ code: Code, at now: Timestamp) throws -> String {
        let person = people.first { $0.email == code.email }
        var claims: [String: JsonClaim] = [
            "iss": .text(issuer), "aud": .text(code.request.client), "sub": .text(code.email), "email": .text(code.email),
            "email_verified": .flag(true), "roles": .list(person?.roles ?? []), "iat": .number(now.seconds),
            "exp": .number(now.seconds + Self.tokenLifetime),
        ]
        claims["programmers"] = person.map { .list($0.programmers) }
        claims["nonce"] = code.request.nonce.map { .text($0) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = #"{"alg":"RS256","kid":"\#(key.identifier)","typ":"JWT"}"#
        let input = Base64.urlText(Array(header.utf8)) + "." + Base64.urlText(Array(try encoder.encode(claims)))
        return input + "." + Base64.urlText(try key.key.sign(Array(input.utf8)))
    }
}

/// A stand-in for the identity provider of those who administer a cluster, by OpenID Connect.
package struct StaffSettings: Sendable, Equatable {
    /// Somebody who can be chosen on its page, and what the tokens say of them.
    package struct Person: Sendable, Equatable, Decodable {
        package var name: String
        package var email: String
        package var roles: [String]
        package var programmers: [String]
    }

    /// Files with the key that signs, and its certificate.
    package var key: String
    package var certificate: String
    package var clients: [OAuthSettings.Client]
    package var people: [Person]

    /// The people of the demo catalogue's programmers.
    package static let standardPeople = [
        Person(name: "Olga Operator", email: "olga@staff.example", roles: ["operators"], programmers: []),
        Person(name: "Edda Editor", email: "edda@staff.example", roles: ["editors"], programmers: ["acme"]),
        Person(name: "Bruno Editor", email: "bruno@staff.example", roles: ["editors"], programmers: ["bravo"]),
        Person(name: "Vera Viewer", email: "vera@staff.example", roles: ["viewers"], programmers: ["acme", "bravo"]),
        Person(name: "Nora Nobody", email: "nora@staff.example", roles: ["canteen"], programmers: []),
    ]
}

extension StaffSettings {
    /// As the settings file has it.
    package struct Entry: Decodable {
        let key: String
        let certificate: String
        let clients: [OAuthSettings.Client.Entry]
        let people: [StaffSettings.Person]?
    }

    package init(_ entry: Entry, resolve: (String) -> String) {
        self.init(
            key: resolve(entry.key), certificate: resolve(entry.certificate),
            clients: entry.clients.map { .init($0, resolve: resolve) },
            people: entry.people ?? Self.standardPeople)
    }
}
