internal import SandboxKit
internal import Clocks

/// Makes profiles of people who signed in.
struct ProfileMaking: Sendable {
    let people: [Person]
    let channels: [String]
    let key: SigningKey

    func person(_ name: String) -> Person? { people.first { $0.name == name } }

    /// - Returns: nil when name or password are wrong, or the person may never come in.
    func authenticate(_ name: String, password: String) -> Person? {
        guard let person = person(name), person.password == password, !person.loginFails else { return nil }
        return person
    }

    func attributes(_ person: Person, mvpd: String, encryptsUserID: Bool = false) -> PersonAttributes {
        PersonAttributes(person: person, mvpd: mvpd, channels: channels, key: key, encryptsUserID: encryptsUserID)
    }

    func profile(
        of person: Person, _ owner: ProfileOwner, _ integration: VendorCatalogue.Integration, kind: VendorProfile.Kind = .regular,
        identities: [SsoIdentity], _ behaviour: VendorBehaviour, at now: Timestamp
    ) -> VendorProfile {
        var attributes = attributes(person, mvpd: integration.mvpd, encryptsUserID: behaviour.encryptsUserID).all
        if kind == .appleSSO { attributes["tokenSource"] = .init(.text("Apple")) }
        return VendorProfile(
            id: RandomText.hexadecimal(octets: 8), owner: owner, mvpd: integration.mvpd, person: person.name, kind: kind, notBefore: now,
            notAfter: now + .seconds(integration.authnSeconds), attributes: attributes, identities: identities,
            visibleFrom: now + .milliseconds(behaviour.visibilityMilliseconds))
    }
}

/// What an MVPD tells about a person (rest-v2 §4).
struct PersonAttributes: Sendable {
    let person: Person
    let mvpd: String
    let channels: [String]
    let key: SigningKey
    let encryptsUserID: Bool

    /// The person's name at the MVPD; the same at each login.
    var userID: String { "u-" + hash("user-id", 16) }

    /// The person's scrambled name in media tokens, the same on all devices.
    var sessionGUID: String { hash("session-guid", 32) }

    var all: [String: VendorProfile.Attribute] {
        let household = "household-" + hash("household", 8)
        return [
            "userID": encryptsUserID ? encrypted("userID") : .init(.text(userID)),
            "upstreamUserID": .init(.text(userID)), "householdID": .init(.text(household)), "primaryOID": .init(.text(household)),
            "typeID": .init(.text(person.isHeadOfHousehold ? "Primary" : "Secondary")),
            "is_hoh": .init(.text(person.isHeadOfHousehold ? "1" : "0")), "hba_status": .init(.flag(false)), "allowMirroring": .init(.flag(true)),
            "zip": encrypted("zip"), "channelID": .init(.list(ownChannels.map { .text($0) })),
            "maxRating": .init(
                .object(["MPAA": .text(person.maximumFilmRating ?? "NC-17"), "VCHIP": .text(person.maximumTelevisionRating ?? "TV-MA")])),
            "language": .init(.text("en")), "onNet": .init(.flag(false)), "inHome": .init(.flag(false)), "mvpd": .init(.text(mvpd)),
        ]
    }

    private var ownChannels: [String] {
        switch person.subscription {
        case .everything: channels
        case .channels(let own): channels.filter(own.contains)
        }
    }

    /// Looks like a value that was encrypted with a programmer's RSA key of 2048 bits; nobody can decrypt it.
    private func encrypted(_ name: String) -> VendorProfile.Attribute {
        let octets = (0..<8).flatMap { code("encrypted-\(name)-\($0)") }
        return .init(.text(Base64.text(octets)), state: "enc")
    }

    private func hash(_ purpose: String, _ length: Int) -> String { String(Hexadecimal.text(code(purpose)).prefix(length)) }

    private func code(_ purpose: String) -> [UInt8] {
        // The key was checked when it was read: a code can be made of it.
        (try? key.authenticationCode(of: Array("\(mvpd)\u{0}\(person.name)".utf8), purpose: purpose)) ?? []
    }
}
