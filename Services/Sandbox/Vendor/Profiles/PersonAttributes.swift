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

    var all: [String: UpstreamProfile.Attribute] {
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
    private func encrypted(_ name: String) -> UpstreamProfile.Attribute {
        let octets = (0..<8).flatMap { code("encrypted-\(name)-\($0)") }
        return .init(.text(Base64.text(octets)), state: "enc")
    }

    private func hash(_ purpose: String, _ length: Int) -> String { String(Hexadecimal.text(code(purpose)).prefix(length)) }

    private func code(_ purpose: String) -> [UInt8] {
        // The key was checked when it was read: a code can be made of it.
        (try? key.authenticationCode(of: Array("\(mvpd)\u{0}\(person.name)".utf8), purpose: purpose)) ?? []
    }
}
