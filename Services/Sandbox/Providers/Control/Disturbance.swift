internal import SandboxKit
internal import Synchronization

/// A decision point misbehaves in this way, as tests set it (mvpd §5 item 4).
struct Disturbance: Sendable, Equatable {
    enum Mode: String, Sendable, Decodable {
        /// Answers as it should, after the delay if one is set.
        case none
        /// Never answers; ends when the caller leaves.
        case hang
        /// Answers 500.
        case error
        /// Resets the connection instead of answering.
        case reset
        /// Answers 200 with a broken message.
        case malformed
    }

    var mode = Mode.none
    /// The answer waits this long before anything else; 0 … 600 000 ms.
    var delay = Duration.zero
    /// After how many requests the decision point behaves again; nil for never.
    var remaining: Int?
    /// Seconds that a permit lives, 1 … 31 536 000; nil sends no such obligation.
    var reauthorizeAfter: Int? = Disturbance.standardLifetime
    var shape = AnswerShape()
    var soap = SoapManner()

    static let standardLifetime = 3600

    init() {}

    /// Reads `{"mode":…,"delayMilliseconds":…,"times":…,"reauthorizeSeconds":…,"silentAbout":[…],"silentWhenUnknown":…,"reversed":…,
    /// "maxMPAA":…,"maxVCHIP":…,"denialReason":…,"decision":…,"message":…,"obligation":…,"obligationFor":…,"doubled":…,"unnamed":…,
    /// "signs":…,"issuer":…,"audience":…,"ageSeconds":…,"validSeconds":…,"namesQuery":…}`; each key is optional; 0 times is for ever,
    /// 0 seconds of reauthorization sends no obligation.
    init(json: [UInt8]) throws(SettingsFault) {
        let message = try SettingsFault.decode(Message.self, from: json)
        mode = message.mode ?? .none
        delay = .milliseconds(try Self.checked(message.delayMilliseconds ?? 0, "delayMilliseconds", most: 600_000))
        let times = try Self.checked(message.times ?? 0, "times", most: 1_000_000)
        remaining = times == 0 ? nil : times
        let seconds = try Self.checked(message.reauthorizeSeconds ?? Self.standardLifetime, "reauthorizeSeconds", most: 31_536_000)
        reauthorizeAfter = seconds == 0 ? nil : seconds
        shape = AnswerShape(
            silentAbout: Set(message.silentAbout ?? []), isSilentWhenUnknown: message.silentWhenUnknown ?? false,
            isReversed: message.reversed ?? false, maximumFilmRating: message.maxMPAA, maximumTelevisionRating: message.maxVCHIP,
            denialReason: message.denialReason, decision: message.decision, statusMessage: message.message,
            obligation: message.obligation.map { .init(identifier: $0, assignments: nil, fulfillOn: message.obligationFor) },
            isDoubled: message.doubled ?? false, isUnnamed: message.unnamed ?? false)
        soap = SoapManner(
            signature: message.signs ?? .response, issuer: message.issuer, audience: message.audience,
            age: .seconds(try Self.checked(message.ageSeconds ?? 0, "ageSeconds", most: 31_536_000)),
            validity: .seconds(try Self.checked(message.validSeconds ?? SoapManner.standardValidity, "validSeconds", most: 31_536_000)),
            namesQuery: message.namesQuery ?? true)
    }

    private struct Message: Decodable {
        let mode: Mode?
        let delayMilliseconds: Int?
        let times: Int?
        let reauthorizeSeconds: Int?
        let silentAbout: [String]?
        let silentWhenUnknown: Bool?
        let reversed: Bool?
        let maxMPAA: String?
        let maxVCHIP: String?
        let denialReason: String?
        let decision: XacmlResponse.Decision?
        let message: String?
        let obligation: String?
        let obligationFor: String?
        let doubled: Bool?
        let unnamed: Bool?
        let signs: SoapManner.Signature?
        let issuer: String?
        let audience: String?
        let ageSeconds: Int?
        let validSeconds: Int?
        let namesQuery: Bool?
    }

    private static func checked(_ value: Int, _ key: String, most: Int) throws(SettingsFault) -> Int {
        guard (0...most).contains(value) else { throw SettingsFault(key: key, problem: "is not from 0 to \(most)") }
        return value
    }
}

/// The disturbance of each decision point.
final class Disturbances: Sendable {
    private let current = Mutex<[String: Disturbance]>([:])

    func set(_ disturbance: Disturbance, for mvpd: String) { current.withLock { $0[mvpd] = disturbance } }

    func reset() { current.withLock { $0 = [:] } }

    /// The disturbance for the next request; counts that request.
    func take(for mvpd: String) -> Disturbance {
        current.withLock { current in
            guard var disturbance = current[mvpd] else { return Disturbance() }
            let taken = disturbance
            if let remaining = disturbance.remaining {
                disturbance.remaining = remaining - 1
                current[mvpd] = remaining > 1 ? disturbance : nil
            }
            return taken
        }
    }
}

/// The envelope of a decision point's answers in the SOAP form, as tests set it.
struct SoapManner: Sendable, Equatable {
    enum Signature: String, Sendable, Decodable {
        case response, assertion, both, none

        var coversResponse: Bool { self == .response || self == .both }
        var coversAssertion: Bool { self == .assertion || self == .both }
    }

    static let standardValidity = 300

    var signature = Signature.response
    /// nil: the provider's entity id.
    var issuer: String?
    /// nil: the issuer of the query.
    var audience: String?
    var age = Duration.zero
    var validity = Duration.seconds(Self.standardValidity)
    /// True when `InResponseTo` is there.
    var namesQuery = true
}

/// The parts that a decision point adds to its answers or leaves out of them, as tests set it (mvpd §4.2, §4.4).
struct AnswerShape: Sendable, Equatable {
    /// Resources that the answer passes over.
    var silentAbout: Set<String> = []
    /// True when one unknown resource empties the whole answer, as with some MVPDs.
    var isSilentWhenUnknown = false
    /// True when results are in the reverse order of the requested resources.
    var isReversed = false
    /// Parental limits that come with permits.
    var maximumFilmRating: String?
    var maximumTelevisionRating: String?
    /// Denies everything for this reason.
    var denialReason: String?
    /// The decision of every result.
    var decision: XacmlResponse.Decision?
    var statusMessage: String?
    /// Identifier of an unknown obligation that comes with every result.
    var obligation: XacmlResponse.Obligation?
    /// True when each result is there twice.
    var isDoubled = false
    /// True when results leave out which resource they are about.
    var isUnnamed = false

    /// The answer in this shape.
    func applied(to response: XacmlResponse, asked resources: [XacmlRequest.Resource], channels: [String]) -> XacmlResponse {
        let unknown = resources.contains { !channels.contains($0.channel ?? $0.identifier) }
        if isSilentWhenUnknown, unknown { return XacmlResponse(results: []) }
        var results = zip(resources, response.results).filter { !silentAbout.contains($0.0.identifier) }.map { changed($0.1) }
        // A question without a resource gets one result without a resource.
        if resources.isEmpty { results = response.results }
        if isDoubled { results += results }
        return XacmlResponse(results: isReversed ? results.reversed() : results)
    }

    private func changed(_ result: XacmlResponse.Result) -> XacmlResponse.Result {
        var result = result
        if let denialReason {
            let assignment = XacmlResponse.Attribute(XacmlNames.reasonCode, .text(denialReason))
            result.decision = .deny
            result.obligations = [XacmlResponse.Obligation(identifier: XacmlNames.reasons, assignments: [assignment])]
        } else if result.decision == .permit, !ratings.isEmpty {
            result.obligations = (result.obligations ?? []) + [XacmlResponse.Obligation(identifier: XacmlNames.ratings, assignments: ratings)]
        }
        if let decision { result.decision = decision }
        if let statusMessage { result.status = XacmlResponse.Status(result.status.code.value, message: statusMessage) }
        if let obligation { result.obligations = (result.obligations ?? []) + [obligation] }
        if isUnnamed { result.category = nil }
        return result
    }

    private var ratings: [XacmlResponse.Attribute] {
        [(XacmlNames.maxMPAA, maximumFilmRating), (XacmlNames.maxVChip, maximumTelevisionRating)].compactMap { name, value in
            value.map { XacmlResponse.Attribute(name, .text($0)) }
        }
    }
}
