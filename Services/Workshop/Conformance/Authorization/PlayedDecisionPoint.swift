internal import Contracts
internal import Foundation
internal import Synchronization

/// The decision point of NorthCable, played by the examiner: XACML 3.0 in JSON, over HTTPS (mvpd section 4). It denies what it was told nothing of.
final class PlayedDecisionPoint: Sendable {
    enum Verdict: Sendable {
        case permit
        /// With the obligation to ask again after so many seconds.
        case permitFor(seconds: Int)
        /// With an obligation that no peer can know.
        case permitOnCondition
        /// With a text for the person.
        case deny(String)
        /// For the sake of parental control.
        case restrict
        /// Status 500.
        case broken
    }

    private struct State {
        var verdicts: [String: Verdict] = [:]
        var questions: [String] = []
        var subjects: Set<String> = []
    }

    private static let resourceID = "urn:oasis:names:tc:xacml:1.0:resource:resource-id"
    private static let subjectID = "urn:oasis:names:tc:xacml:1.0:subject:subject-id"
    private static let message = "urn:cablelabs:ocla:1.0:attribute:enviroment:buy-flow:message"
    private static let ofAnybody = "CONFORMANCE-PROBE"

    private let state = Mutex(State())

    /// Does the work while the implementation asks the examiner about people of NorthCable.
    static func play(_ examination: Examination, _ work: (PlayedDecisionPoint, TestViewer) async throws -> Void) async throws {
        let point = PlayedDecisionPoint()
        let viewer = try await TestViewer(examination)
        let server = try await ProviderServer.start { point.answer($0) }
        let change: (inout Configuration) -> Void = { configuration in
            for index in configuration.mvpds.indices where configuration.mvpds[index].id == "NorthCable" {
                configuration.mvpds[index].authorization = AuthorizationEndpoint(
                    protocol: .xacmlJson, url: "\(server.address)/decisions", trustAnchors: [server.authority])
                configuration.mvpds[index].authzTtlSeconds = 86_400
            }
        }
        // Each time by another device: who is denied often is not heard for a while.
        let isAsked = { () async throws -> Bool in try await !viewer.another().decide([ofAnybody])[0].authorized }
        let outcome: Result<Void, any Error>
        do {
            try await viewer.peers.withCatalogue(change, until: isAsked) { try await work(point, viewer) }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        await server.stop()
        try outcome.get()
    }

    func decide(_ verdict: Verdict, on resource: String) { state.withLock { $0.verdicts[resource] = verdict } }

    /// Returns how often it was asked about the resource.
    func questions(about resource: String) -> Int { state.withLock { $0.questions.count { $0 == resource } } }

    /// True when it was asked about the person.
    func knows(_ subject: String) -> Bool { state.withLock { $0.subjects.contains(subject) } }

    // MARK: Its address

    private func answer(_ request: ProviderServer.Request) -> ProviderServer.Answer {
        let question = (try? JSONSerialization.jsonObject(with: Data(request.body.utf8))) as? [String: Any]
        guard request.method == "POST", let content = question?["Request"] as? [String: Any] else {
            return ProviderServer.Answer(status: 400, json: "{}")
        }
        let resources = Self.values(content["Resource"], Self.resourceID)
        let verdicts = state.withLock { state in
            state.questions += resources
            state.subjects.formUnion(Self.values(content["AccessSubject"], Self.subjectID))
            return resources.map { (resource: $0, verdict: state.verdicts[$0] ?? .deny("")) }
        }
        guard !verdicts.isEmpty, !verdicts.contains(where: { if case .broken = $0.verdict { true } else { false } }) else {
            return ProviderServer.Answer(status: 500, json: "{}")
        }
        let results = verdicts.map { Self.result($0.resource, $0.verdict) }
        let json = try? JSONSerialization.data(withJSONObject: ["Response": results])
        return ProviderServer.Answer(json: String(decoding: json ?? Data(), as: UTF8.self))
    }

    private static func values(_ categories: Any?, _ identifier: String) -> [String] {
        let list = categories as? [[String: Any]] ?? (categories as? [String: Any]).map { [$0] } ?? []
        return list.flatMap { $0["Attribute"] as? [[String: Any]] ?? [] }.filter { $0["AttributeId"] as? String == identifier }
            .compactMap { $0["Value"] as? String }
    }

    private static func result(_ resource: String, _ verdict: Verdict) -> [String: Any] {
        let attribute: [String: Any] = ["AttributeId": resourceID, "Value": resource]
        var result: [String: Any] = ["Decision": "Permit", "Category": [["Attribute": [attribute]]]]
        switch verdict {
        case .permit: break
        case .permitFor(let seconds): result["Obligations"] = [obligation("urn:cablelabs:olca:1.0:obligations:re-authz", "seconds", "\(seconds)")]
        case .permitOnCondition: result["Obligations"] = [obligation("urn:conformance:obligation:unknown", "urn:conformance:unknown", "1")]
        case .restrict:
            result["Decision"] = "Deny"
            result["Obligations"] = [obligation("urn:tve:xacml:2.0:obligations:restrict-pc", message, "Not for children.")]
        case .deny(let text):
            result["Decision"] = "Deny"
            if !text.isEmpty { result["Obligations"] = [obligation("urn:conformance:obligation:message", message, text)] }
        case .broken: break
        }
        return result
    }

    private static func obligation(_ identifier: String, _ assignment: String, _ value: String) -> [String: Any] {
        ["Id": identifier, "AttributeAssignment": [["AttributeId": assignment, "Value": value]]]
    }
}
