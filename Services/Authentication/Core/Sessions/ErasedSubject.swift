internal import Clocks
internal import Cryptography

/// Whom a session is of, as `erased` remembers who was erased: by digests, so that no sign-in from before brings them back.
struct ErasedSubject: Hashable, Sendable {
    /// Longer than any code, or anything else that a sign-in goes on from, lives.
    static let memory: Duration = .seconds(86_400)
    /// Two copies' clocks (State.md).
    static let clockErrorMilliseconds: Int64 = 2000

    /// 64 hex digits each.
    let person: String
    let device: String

    static func person(_ mvpd: MvpdID, userID: String) -> String { Hex.encode(SHA256.hash("person\n\(mvpd.text)\n\(userID)")) }

    static func device(_ id: DeviceID) -> String { Hex.encode(SHA256.hash("device\n" + id.text)) }
}

extension SessionRecord {
    var erasable: ErasedSubject {
        ErasedSubject(person: ErasedSubject.person(mvpd, userID: userID), device: ErasedSubject.device(key.device))
    }
}
