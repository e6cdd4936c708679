internal import BridgeClient
internal import Clocks
internal import Logging
internal import Memos
internal import Synchronization

/// Tells operators of answers that the API does not document (bridge §2, §12.2): each kind once in a while, however many calls get it.
final class UpstreamOddities: Sendable {
    private static let quietAfterAlarm: Duration = .seconds(60)
    private static let quietAfterType: Duration = .seconds(3600)

    private let told = Mutex(BoundedCache<[OctetText], Timestamp>(capacity: 4096))

    /// A status that no REST API v2 answers with: the address is another server's; or one of 400 to 499 without a code that would say what is wrong.
    /// Those of registrations are told as refused statements.
    func note(_ failure: BridgeFailure, _ operation: BridgeOperation, of upstream: String, now: Timestamp, _ logger: Logger) {
        let (event, details): (String, String)
        switch failure {
        case .wrongAddress(let status):
            event = "bridge.wrong_address"
            details = "\(operation.rawValue) was answered \(status): baseUrl is not the origin of a REST API v2"
        case .badRequest(let status) where operation.group != .registration:
            event = "bridge.bad_request"
            details = "\(operation.rawValue) was answered \(status) without a known code: ask the upstream's operator"
        default: return
        }
        guard isDue([event, upstream, operation.rawValue], every: Self.quietAfterAlarm, now) else { return }
        logger.error("\(event)", metadata: ["upstream": "\(upstream)", "operation": "\(operation.rawValue)", "details": "\(details)"])
    }

    /// A profile of a type that came after this program counts as a regular one.
    func note(_ profiles: [BridgedProfile], of upstream: String, now: Timestamp, _ logger: Logger) {
        for profile in profiles where profile.kind == .unknown {
            guard isDue(["type", upstream, profile.type], every: Self.quietAfterType, now) else { continue }
            logger.warning(
                "bridge.unknown_profile_type", metadata: ["upstream": "\(upstream)", "mvpd": "\(profile.mvpd)", "type": "\(profile.type)"])
        }
    }

    private func isDue(_ kind: [String], every span: Duration, _ now: Timestamp) -> Bool {
        let key = kind.map { OctetText($0) }
        return told.withLock { told in
            if let last = told[key], now >= last, now < last + span { return false }
            told[key] = now
            return true
        }
    }
}
