package import Clocks
package import Contracts
package import Identifiers

/// A device of a person whom a programmer names by service tokens (rest-v2 §2.14).
package struct ServiceTokenDevice: Hashable, Sendable {
    /// How many a person has; the one that has not been seen for longest goes.
    package static let most = 64

    /// In its tokens; a device that joins again after it was taken out has another one.
    package let tie: ServiceTieID
    package let person: ServicePersonID
    package let programmer: ProgrammerID
    package let device: DeviceID
    package var information: DeviceInformation
    /// When it got its last token.
    package var seenAt: Timestamp
    /// When that can be exchanged no more.
    package var expiresAt: Timestamp
}

/// What ties a device to a person.
package struct ServiceTokenTie: Sendable {
    /// How long a person is remembered without a token: no session lives as long.
    package static let personLifetime: Duration = SessionRecord.longestLife + .seconds(30 * 86_400)

    package let programmer: ProgrammerID
    package let device: DeviceID
    package let information: DeviceInformation
    package let now: Timestamp
    package let expiresAt: Timestamp
    /// For a device that has no tie to the person.
    package let newTie: ServiceTieID

    package init(
        programmer: ProgrammerID, device: DeviceID, information: DeviceInformation, now: Timestamp, expiresAt: Timestamp, newTie: ServiceTieID
    ) {
        (self.programmer, self.device, self.information, self.now) = (programmer, device, information, now)
        (self.expiresAt, self.newTie) = (expiresAt, newTie)
    }

    var personExpiresAt: Timestamp { now + Self.personLifetime }
}

/// How a programmer names a person, as it is kept.
package struct ServicePersonName: Hashable, Sendable {
    package let digest: [UInt8]
    /// For a person whom the store does not know.
    package let newID: ServicePersonID

    package init(digest: [UInt8], newID: ServicePersonID) {
        (self.digest, self.newID) = (digest, newID)
    }
}

/// Six digits by which a device joins a person, once.
///
/// Kept in clear, as a registration code is: it is on a screen, lives for ten minutes, and a digest of 20 bits would hide nothing.
package struct ServiceLinkCode: Hashable, Sendable {
    package static let lifetime: Duration = .seconds(600)
    static let length = 6

    package let code: String
    package let person: ServicePersonID
    package let programmer: ProgrammerID
    package let expiresAt: Timestamp

    package init(code: String, person: ServicePersonID, programmer: ProgrammerID, expiresAt: Timestamp) {
        (self.code, self.person, self.programmer, self.expiresAt) = (code, person, programmer, expiresAt)
    }

    package static func isCode(_ text: String) -> Bool { text.utf8.count == length && text.utf8.allSatisfy { (0x30...0x39).contains($0) } }

    /// Every code is equally likely.
    package static func random(from source: any RandomSource) -> String {
        var digits: [UInt8] = []
        while digits.count < length {
            // 250 and more is thrown away: folding it back would make some digits likelier.
            digits += source.bytes(length).filter { $0 < 250 }.prefix(length - digits.count).map { 0x30 + $0 % 10 }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
