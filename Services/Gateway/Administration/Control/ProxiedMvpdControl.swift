internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The web service by which an MVPD proxy keeps the list of MVPDs that are reached through it (dashboard §4).
struct ProxiedMvpdControl: Sendable {
    static let path = "/control/v3/mvpd-proxies/{mvpd}/mvpds"

    let administration: any Administration

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let request = ListProxiedMvpdsRequest(token: try exchange.administrator(), proxyMvpdID: try exchange.captured("mvpd"))
        let list = try await Self.telling { try await administration.listProxiedMvpds(request, context: exchange.call) }
        return Response(body: ByteBuffer(bytes: ProxiedMvpdMarkup.write(list.mvpds)), format: .xml)
    }

    @Sendable func replace(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let sent = try exchange.sentInBody("proxied-mvpds")
        guard sent.count == 1 else { throw Fault(.invalidRequest, "One form field 'proxied-mvpds' with the list as XML is required") }
        let request = ReplaceProxiedMvpdsRequest(token: token, proxyMvpdID: try exchange.captured("mvpd"), document: sent[0])
        let outcome = try await Self.telling { try await administration.replaceProxiedMvpds(request, context: exchange.changingCall) }
        switch outcome.outcome {
        case .version: return .empty(.created)
        case .refusal(let refusal):
            let problem = refusal.problems.first.map { $0.field.isEmpty ? "The list \($0.message)" : "\($0.field) \($0.message)" }
            throw Fault(.invalidRequest, problem ?? refusal.message)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    /// What is another's, what is no proxy and what there is not are one answer (403 of the published service).
    private static func telling<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let fault as Fault where [.insufficientRole, .notFound].contains(fault.code) {
            throw BearerProblem(fault: Fault(.insufficientScope, "The token keeps no list of this MVPD, or it is no proxy."))
        }
    }
}

/// The list as XML.
enum ProxiedMvpdMarkup {
    private static let namespace = "http://tve.adobe.com/data/proxiedmvpd"

    static func write(_ mvpds: [ProxiedMvpd]) -> [UInt8] {
        var writer = XMLWriter()
        writer.begin("proxiedMvpds", [("xmlns", namespace)], isRoot: true)
        for mvpd in mvpds {
            writer.begin("proxiedMvpd")
            writer.element("id", mvpd.id, mvpd.providerID.isEmpty ? [] : [("ProviderID", mvpd.providerID)])
            writer.element("displayName", mvpd.displayName)
            writer.element("logoURL", mvpd.logoURL)
            if mvpd.iframeWidth > 0 {
                writer.begin("iframeSize")
                writer.element("iframeHeight", "\(mvpd.iframeHeight)")
                writer.element("iframeWidth", "\(mvpd.iframeWidth)")
                writer.end("iframeSize")
            }
            if !mvpd.requestorIDs.isEmpty {
                writer.begin("requestorIds")
                for id in mvpd.requestorIDs { writer.element("requestorId", id) }
                writer.end("requestorIds")
            }
            writer.end("proxiedMvpd")
        }
        writer.end("proxiedMvpds")
        return writer.bytes
    }
}
