public import Clocks
public import OutboundHttp
internal import StrictJson

/// The upstream's decision about a resource (rest-v2 §2.9, §2.10).
public struct BridgedDecision: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        case permit
        case deny(BridgeRefusal)
    }

    public struct MediaToken: Hashable, Sendable {
        /// As it came, octet for octet: the verifier's signature is over it.
        public let serialized: String
        public let start: Timestamp
        public let end: Timestamp
    }

    public let resource: String
    public let outcome: Outcome
    /// `mvpd`, `degradation`, `temppass`, `dummy`, or a later word.
    public let source: String
    /// The end of the decision that the upstream keeps; `nil`: not told.
    public let end: Timestamp?
    /// With a permit to play.
    public let token: MediaToken?

    private static let largestToken = 65_536

    /// - Parameter resource: That was asked.
    /// - Throws: `BridgeFailure`; `unusable` when it is not decided about, or a permit lacks its media token.
    public init(_ answer: OutboundAnswer, resource: String) throws(BridgeFailure) {
        let decisions = try Self.all(answer)
        guard let decision = decisions.first(where: { $0.resource == resource }) ?? (decisions.count == 1 ? decisions.first : nil) else {
            throw .unusable("the resource is not decided about")
        }
        if case .permit = decision.outcome, decision.token == nil { throw .unusable("a permit without token") }
        self = decision
    }

    /// The decisions of a preauthorization, in its order.
    public static func all(_ answer: OutboundAnswer) throws(BridgeFailure) -> [BridgedDecision] {
        guard let entries = try BridgeAnswer.document(answer)["decisions"]?.elements else { throw .unusable("decisions is missing") }
        var decisions: [BridgedDecision] = []
        for entry in entries { decisions.append(try BridgedDecision(entry)) }
        return decisions
    }

    init(_ other: BridgedDecision, end: Timestamp?, token: MediaToken?) {
        (resource, outcome, source) = (other.resource, other.outcome, other.source)
        (self.end, self.token) = (end, token)
    }

    private init(_ decision: JsonNode) throws(BridgeFailure) {
        guard let resource = decision["resource"]?.string, let isPermit = decision["authorized"]?.bool else {
            throw .unusable("a decision lacks resource or authorized")
        }
        self.resource = resource
        source = decision["source"]?.string ?? ""
        guard isPermit else {
            // A no without a reason is still a no.
            let refusal = decision["error"].flatMap { BridgeAnswer.refusal($0, status: 403) }
            outcome = .deny(refusal ?? BridgeRefusal(status: 403, code: "authorization_denied_by_mvpd"))
            (end, token) = (nil, nil)
            return
        }
        outcome = .permit
        end = decision["notAfter"]?.moment
        token = try decision["token"].map { (node) throws(BridgeFailure) in try Self.token(node) }
    }

    private static func token(_ token: JsonNode) throws(BridgeFailure) -> MediaToken {
        guard let text = token["serializedToken"]?.string, (1...largestToken).contains(text.utf8.count), let end = token["notAfter"]?.moment else {
            throw .unusable("a token lacks serializedToken or notAfter")
        }
        return MediaToken(serialized: text, start: token["notBefore"]?.moment ?? Timestamp(milliseconds: 0), end: end)
    }
}
