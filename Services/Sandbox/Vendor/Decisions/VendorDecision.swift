internal import SandboxKit
internal import Clocks
internal import FoundationEssentials

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
