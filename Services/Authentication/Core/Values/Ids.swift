internal import Cryptography
package import Identifiers
package import SamlExplanation

package enum SoftwareSubject {}
package enum RegistrationRecordSubject {}
package enum SessionSubjectTag {}
package enum DegradationRuleSubject {}
package enum PlatformIdentitySubject {}
package enum ServiceIdentitySubject {}
package enum ServicePersonSubject {}
package enum ServiceTieSubject {}
package enum ProgrammerSubject {}
package enum TrialSubject {}
package enum TrialUserSubject {}

package typealias ClientID = Identifiers.ClientID
package typealias SoftwareID = Identifier<SoftwareSubject>
package typealias RequestorID = Identifiers.RequestorID
package typealias MvpdID = Identifiers.MvpdID
package typealias DeviceID = Identifiers.DeviceID
/// Names a registration code's record for good; the code itself may be given out again later.
package typealias RegistrationRecordID = Identifier<RegistrationRecordSubject>
package typealias SamlRequestID = SamlExplanation.SamlRequestID
package typealias SessionID = Identifier<SessionSubjectTag>
package typealias DegradationRuleID = Identifier<DegradationRuleSubject>
/// A platform's identity of its user: the digest of issuer and subject (rest-v1 §2.6).
package typealias PlatformIdentity = Identifier<PlatformIdentitySubject>
/// The person that a service token names: a digest that no two issuers share (rest-v2 §1.3).
package typealias ServiceIdentity = Identifier<ServiceIdentitySubject>
/// A person of our own service tokens: `sub`.
package typealias ServicePersonID = Identifier<ServicePersonSubject>
/// The id of the tie between a device and such a person.
package typealias ServiceTieID = Identifier<ServiceTieSubject>
package typealias ProgrammerID = Identifier<ProgrammerSubject>
/// A trial of a TempPass (rest-v1 §6.2).
package typealias TrialID = Identifier<TrialSubject>
/// The user on trial, as the programmer names them: a digest in lower-case hex (rest-v1 §3.21).
package typealias TrialUser = Identifier<TrialUserSubject>

/// Seven characters that a person types (rest-v1 §3.4).
///
/// It is stored in clear. Everybody who reads the screen knows it, it lives for at most ten hours, and a digest of 34 bits would hide nothing.
package struct RegistrationCodeText: Hashable, Sendable {
    static let length = 7
    /// Upper-case letters and digits without 0, O, 1, I and L, which people confuse.
    static let alphabet = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789".utf8)

    package let text: String

    /// - Parameter typed: As a person or an app sent it; letter case does not count.
    package init(typed: String) { text = typed.uppercased() }

    /// A random code; every one is equally likely.
    package static func random(from source: any RandomSource) -> RegistrationCodeText {
        var characters: [UInt8] = []
        while characters.count < length {
            // A value past the alphabet is thrown away: folding it back would make some characters likelier.
            let usable = source.bytes(length).map { Int($0 & 31) }.filter { $0 < alphabet.count }
            characters += usable.prefix(length - characters.count).map { alphabet[$0] }
        }
        return RegistrationCodeText(typed: String(decoding: characters, as: UTF8.self))
    }
}
