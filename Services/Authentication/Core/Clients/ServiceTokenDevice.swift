internal import Clocks
internal import Contracts
internal import Identifiers

/// A device of a person whom a programmer names by service tokens (rest-v2 §2.14).
struct ServiceTokenDevice: Hashable, Sendable {
    /// How many a person has; the one that has not been seen for longest goes.
    static let most = 64

    /// In its tokens; a device that joins again after it was taken out has another one.
    let tie: ServiceTieID
    let person: ServicePersonID
    let programmer: ProgrammerID
    let device: DeviceID
    var information: DeviceInformation
    /// When it got its last token.
    var seenAt: Timestamp
    /// When that can be exchanged no more.
    var expiresAt: Timestamp
}

/// What ties a device to a person.
struct ServiceTokenTie: Sendable {
    /// How long a person is remembered without a token: no session lives as long.
    static let personLifetime: Duration = AuthenticationService.longestSession + .seconds(30 * 86_400)

    let programmer: ProgrammerID
    let device: DeviceID
    let information: DeviceInformation
    let now: Timestamp
    let expiresAt: Timestamp
    /// For a device that has no tie to the person.
    let newTie: ServiceTieID

    var personExpiresAt: Timestamp { now + Self.personLifetime }
}

/// How a programmer names a person, as it is kept.
struct ServicePersonName: Hashable, Sendable {
    let digest: [UInt8]
    /// For a person whom the store does not know.
    let newID: ServicePersonID
}

/// Six digits by which a device joins a person, once.
///
/// Kept in clear, as a registration code is: it is on a screen, lives for ten minutes, and a digest of 20 bits would hide nothing.
struct ServiceLinkCode: Hashable, Sendable {
    static let lifetime: Duration = .seconds(600)
    static let length = 6

    let code: String
    let person: ServicePersonID
    let programmer: ProgrammerID
    let expiresAt: Timestamp

    static func isCode(_ text: String) -> Bool { text.utf8.count == length && text.utf8.allSatisfy { (0x30...0x39).contains($0) } }

    /// Every code is equally likely.
    static func random(from source: any RandomSource) -> String {
        var digits: [UInt8] = []
        while digits.count < length {
            // 250 and more is thrown away: folding it back would make some digits likelier.
            digits += source.bytes(length).filter { $0 < 250 }.prefix(length - digits.count).map { 0x30 + $0 % 10 }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
