internal import SandboxKit
internal import Clocks
internal import FoundationEssentials
internal import Synchronization

/// Signs media tokens of the reference form (rest-v1 §7), as v2 has them too.
final class VendorMediaTokens: Sendable {
    struct Play: Sendable {
        let sessionGUID: String
        let serviceProvider: String
        let mvpd: String
        let proxyMvpd: String?
        let resource: String
        /// Seconds.
        let life: Int
    }

    struct Token: Sendable, Encodable {
        let notBefore: Int64
        let notAfter: Int64
        let serializedToken: String
    }

    private static let zones = 840

    private let key: SigningKey
    private let counter = Mutex(0)

    init(key: SigningKey) { self.key = key }

    /// A token that differs from the 839 before it: each stands in a time zone of its own, which changes no moment.
    func issue(_ play: Play, at now: Timestamp) throws -> Token {
        let zone = counter.withLock { counter in
            counter = (counter + 1) % Self.zones
            return counter
        }
        let issuedAt = Timestamp(seconds: now.seconds)
        let payload = XmlNode.element(
            "shortAuthorizationToken", [:],
            [
                ("sessionGUID", play.sessionGUID), ("requestorID", play.serviceProvider), ("resourceID", play.resource),
                ("ttl", String(play.life * 1000)), ("issueTime", Self.text(issuedAt, zone: zone)), ("mvpdId", play.mvpd),
            ].map { .element($0.0, [:], [.text($0.1)]) } + (play.proxyMvpd.map { [.element("proxyMvpdId", [:], [.text($0)])] } ?? [])
        ).serialized()
        let signature = Base64.text(try key.sign(Array(payload.utf8)))
        // The second tag has no slash, in the documents and in the field.
        let text = Base64.text(Array("<signatureInfo>\(signature)<signatureInfo>\(payload)".utf8))
        return Token(
            notBefore: issuedAt.milliseconds, notAfter: (issuedAt + .seconds(play.life)).milliseconds, serializedToken: text)
    }

    /// `2026-03-04 10:15:30 +0000`.
    /// - Parameter zone: Minutes east of Greenwich.
    private static func text(_ moment: Timestamp, zone: Int) -> String {
        let local = Instant.text(moment + .seconds(zone * 60))
        let (hours, minutes) = (zone / 60, zone % 60)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
        return "\(local.prefix(10)) \(local.dropFirst(11).prefix(8)) +\(two(hours))\(two(minutes))"
    }
}
