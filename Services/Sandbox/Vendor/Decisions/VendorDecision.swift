internal import Clocks
internal import FoundationEssentials
internal import SandboxKit
internal import Synchronization

/// A decision about one resource, before it is written.
struct VendorDecision: Sendable {
    enum Source: String, Sendable, Codable {
        case mvpd, degradation, temppass
    }

    let resource: String
    let source: Source
    /// nil: a permit.
    var problem: VendorProblem?
    var permit: VendorPermits.Permit?
    /// For the media token of a permit.
    var sessionGUID = ""

    static func deny(_ resource: String, _ source: Source, _ problem: VendorProblem) -> VendorDecision {
        VendorDecision(resource: resource, source: source, problem: problem)
    }

    static func deny(_ resource: String, _ code: VendorErrorCode, _ source: Source = .mvpd) -> VendorDecision {
        .deny(resource, source, VendorProblem(code))
    }
}

/// The body of an answer (rest-v2 §2.9).
struct DecisionsBody: Sendable, Encodable {
    struct Decision: Sendable, Encodable {
        let resource: String
        let serviceProvider: String
        let mvpd: String
        let authorized: Bool
        let source: VendorDecision.Source
        var token: VendorMediaTokens.Token?
        let notBefore: Int64?
        let notAfter: Int64?
        let error: VendorProblem?

        init(_ decision: VendorDecision, _ question: DecisionQuestion) {
            resource = decision.resource
            serviceProvider = question.serviceProvider
            mvpd = question.mvpd.id
            authorized = decision.problem == nil
            source = decision.source
            let permit = question.isPreauthorization ? nil : decision.permit
            notBefore = permit?.start.milliseconds
            notAfter = permit?.end.milliseconds
            error = decision.problem
        }
    }

    let decisions: [Decision]
}

/// Authorization and preauthorization (rest-v2 §2.9, §2.10).
struct VendorDecisionEndpoint: Sendable {
    let memory: VendorMemory
    let making: ProfileMaking
    let tokens: VendorMediaTokens

    func answer(_ call: VendorCall) throws -> VendorAnswer {
        let (question, decisions) = try memory.access { state in
            let question = try DecisionQuestion(call, state)
            return (question, try state.decide(question, making))
        }
        let body = DecisionsBody(
            decisions: try decisions.map { decision in
                var written = DecisionsBody.Decision(decision, question)
                if !question.isPreauthorization, decision.problem == nil { written.token = try token(decision, question) }
                return written
            })
        return try .json(body, outcome: decisions.map { $0.problem?.code ?? "permit" }.joined(separator: ","))
    }

    private func token(_ decision: VendorDecision, _ question: DecisionQuestion) throws -> VendorMediaTokens.Token {
        try tokens.issue(
            VendorMediaTokens.Play(
                sessionGUID: decision.sessionGUID, serviceProvider: question.serviceProvider, mvpd: question.mvpd.id,
                proxyMvpd: question.mvpd.proxyMvpd, resource: decision.resource, life: question.integration.mediaTokenSeconds), at: question.now)
    }
}

/// A call for decisions, checked.
struct DecisionQuestion: Sendable {
    private struct Message: Decodable { let resources: [String] }

    private static let longestResource = 16_384
    private static let mostResources = 1000

    let caller: DeviceCaller
    let mvpd: VendorCatalogue.Mvpd
    let integration: VendorCatalogue.Integration
    /// Each once, in the order of the request (rest-v2 D15).
    let resources: [String]
    let isPreauthorization: Bool
    let partnerStatus: PartnerStatus
    let call: VendorCall

    /// - Throws: `VendorRefusal` of rest-v2 §1.5, in its order.
    init(_ call: VendorCall, _ state: VendorState) throws {
        caller = try DeviceCaller(call, state)
        guard state.catalogue.mvpd(call.parameter("mvpd")) != nil else { throw VendorRefusal(.invalidMvpd) }
        resources = try Self.resources(call)
        (mvpd, integration) = try caller.integration(call.parameter("mvpd"), state)
        isPreauthorization = call.operation == .preauthorize
        partnerStatus = PartnerStatus(header: call.header("ap-partner-framework-status"))
        self.call = call
    }

    var now: Timestamp { call.now }
    var serviceProvider: String { caller.serviceProvider.id }
    var limit: Int { isPreauthorization ? integration.preauthorizeLimit : integration.authorizeLimit }

    private static func resources(_ call: VendorCall) throws(VendorRefusal) -> [String] {
        guard call.isJSON, let message = try? JSONDecoder().decode(Message.self, from: Data(call.body)), !message.resources.isEmpty,
            message.resources.count <= mostResources,
            message.resources.allSatisfy({ (1...longestResource).contains($0.utf8.count) })
        else { throw VendorRefusal(.invalidResources) }
        var distinct: [String] = []
        for resource in message.resources where !distinct.contains(where: { $0 == resource }) { distinct.append(resource) }
        return distinct
    }
}

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

    private let key: SandboxSigningKey
    private let counter = Mutex(0)

    init(key: SandboxSigningKey) { self.key = key }

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
