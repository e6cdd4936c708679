/// A stand-in for the identity provider of those who administer a cluster, by OpenID Connect.
public struct StaffSettings: Sendable, Equatable {
    /// Somebody who can be chosen on its page, and what the tokens say of them.
    public struct Person: Sendable, Equatable, Decodable {
        public var name: String
        public var email: String
        public var roles: [String]
        public var programmers: [String]
    }

    /// Files with the key that signs, and its certificate.
    public var key: String
    public var certificate: String
    public var clients: [OAuthSettings.Client]
    public var people: [Person]

    /// Of the demo catalogue's programmers.
    public static let standardPeople = [
        Person(name: "Olga Operator", email: "olga@staff.example", roles: ["operators"], programmers: []),
        Person(name: "Edda Editor", email: "edda@staff.example", roles: ["editors"], programmers: ["acme"]),
        Person(name: "Bruno Editor", email: "bruno@staff.example", roles: ["editors"], programmers: ["bravo"]),
        Person(name: "Vera Viewer", email: "vera@staff.example", roles: ["viewers"], programmers: ["acme", "bravo"]),
        Person(name: "Nora Nobody", email: "nora@staff.example", roles: ["canteen"], programmers: []),
    ]
}

extension SettingsFile {
    struct Staff: Decodable {
        let key: String
        let certificate: String
        let clients: [Client]
        let people: [StaffSettings.Person]?
    }
}

extension StaffSettings {
    init(_ entry: SettingsFile.Staff, resolve: (String) -> String) {
        self.init(
            key: resolve(entry.key), certificate: resolve(entry.certificate),
            clients: entry.clients.map { .init(id: $0.id, secret: resolve($0.secret), redirectURIs: $0.redirectURIs) },
            people: entry.people ?? Self.standardPeople)
    }
}
