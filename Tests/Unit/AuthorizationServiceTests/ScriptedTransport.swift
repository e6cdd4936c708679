import OutboundHttp
import Synchronization

/// A decision point as a script: answers each request as it was told last, and keeps the bodies.
final class ScriptedTransport: OutboundTransport {
    typealias Outcome = Result<OutboundAnswer, OutboundFailure>

    private struct State {
        var next: [Outcome] = []
        var last: Outcome = .success(.init(status: 200, body: Array(Xacml.permit().utf8)))
        var messages: [OutboundRequest] = []
        var routes: [OutboundRoute] = []
        var timesLeft: [Duration] = []
        var make: (@Sendable (String) -> String)?
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var underWay = 0
        var mostAtOnce = 0
    }

    private let state = Mutex(State())

    var messages: [OutboundRequest] { state.withLock { $0.messages } }
    var bodies: [String] { messages.map { String(decoding: $0.body ?? [], as: UTF8.self) } }
    var routes: [OutboundRoute] { state.withLock { $0.routes } }
    var timesLeft: [Duration] { state.withLock { $0.timesLeft } }
    var requestCount: Int { messages.count }
    /// The most requests that were under way together.
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// Answers all further requests with this body.
    func answer(_ text: String, status: Int = 200, contentType: String? = nil) {
        let headers = contentType.map { [("Content-Type", $0)] } ?? []
        state.withLock { $0.last = .success(OutboundAnswer(status: status, headers: headers, body: Array(text.utf8))) }
    }

    /// Answers each further request with what the closure makes of its body.
    func answer(with make: @escaping @Sendable (String) -> String) {
        state.withLock { $0.make = make }
    }

    /// Answers all further requests with this failure.
    func fail(_ kind: OutboundFailure.Kind) {
        state.withLock { $0.last = .failure(.init(kind)) }
    }

    /// Fails the next request only.
    func failOnce(_ kind: OutboundFailure.Kind) {
        state.withLock { $0.next.append(.failure(.init(kind))) }
    }

    /// Leaves further requests without an answer until `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return !state.isHeld
            }
            if goesOn { continuation.resume() }
        }
    }

    func send(
        _ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration
    ) async throws(OutboundFailure) -> OutboundAnswer {
        let outcome = state.withLock { state in
            state.messages.append(request)
            state.routes.append(route)
            state.timesLeft.append(timeLeft)
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
            if !state.next.isEmpty { return state.next.removeFirst() }
            guard let make = state.make else { return state.last }
            return .success(.init(status: 200, body: Array(make(String(decoding: request.body ?? [], as: UTF8.self)).utf8)))
        }
        await Task.yield()
        await wait()
        state.withLock { $0.underWay -= 1 }
        return try outcome.get()
    }
}

/// Answers of a decision point.
enum Xacml {
    static let resourceID = "urn:oasis:names:tc:xacml:1.0:resource:resource-id"
    static let reauthorize = "urn:cablelabs:olca:1.0:obligations:re-authz"
    static let restrict = "urn:tve:xacml:2.0:obligations:restrict-pc"
    static let upgrade = "urn:tve:xacml:2.0:obligations:upgrade"
    static let log = "urn:cablelabs:olca:1.0:obligations:log"
    static let message = "urn:cablelabs:ocla:1.0:attribute:enviroment:buy-flow:message"

    static let reasonCode = "urn:cablelabs:olca:1.0:attribute:content:subscription:tv-network:reason-code"

    static func response(_ results: String...) -> String { response(of: results) }
    static func response(of results: [String]) -> String { #"{"Response":[\#(results.joined(separator: ","))]}"# }

    static func result(_ decision: String, resource: String? = nil, obligations: String = "", message: String? = nil) -> String {
        let category = resource.map {
            #","Category":[{"CategoryId":"urn:oasis:names:tc:xacml:3.0:attribute-category:resource","Attribute":[{"AttributeId":"\#(resourceID)","Value":"\#($0)"}]}]"#
        }
        let status = message.map { #","Status":{"StatusCode":{"Value":"urn:oasis:names:tc:xacml:1.0:status:ok"},"StatusMessage":"\#($0)"}"# }
        return #"{"Decision":"\#(decision)","Obligations":[\#(obligations)]\#(category ?? "")\#(status ?? "")}"#
    }

    static func obligation(_ identifier: String, _ assignments: (String, String)..., fulfillOn: String? = nil) -> String {
        let list = assignments.map { #"{"AttributeId":"\#($0)","Value":\#($1)}"# }.joined(separator: ",")
        let effect = fulfillOn.map { #","FulfillOn":"\#($0)""# } ?? ""
        return #"{"Id":"\#(identifier)","AttributeAssignment":[\#(list)]\#(effect)}"#
    }

    static func permit(_ obligations: String = "") -> String { response(result("Permit", resource: "CHAN7-HD", obligations: obligations)) }
    static func deny(_ obligations: String = "", message: String? = nil) -> String {
        response(result("Deny", resource: "CHAN7-HD", obligations: obligations, message: message))
    }
}
