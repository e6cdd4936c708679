internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Forgets our client at an upstream that serves a device: asked about first, as people have to sign in again. The device's id is in no address.
struct UpstreamResetPages: Sendable {
    static let page = "reset"

    let console: Console

    private var controller: UpstreamController {
        UpstreamController(administration: console.administration, operations: console.dependencies.operations)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await EntryPages(console: console, collection: .upstreams).entry(exchange, visitor)
        return await page(entry, [:], visitor, exchange)
    }

    @Sendable func reset(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await EntryPages(console: console, collection: .upstreams).entry(exchange, visitor)
        let device = try exchange.sentInBody("device").first?.trimmed ?? ""
        guard ViewerKind.isGood(device) else {
            return await page(entry, problem("Give the device's id: 1 to 512 octets."), visitor, exchange, status: .unprocessableContent)
        }
        guard try exchange.value("confirmed") == "1" else { return await page(entry, ["asks": ["device": device]], visitor, exchange) }
        do {
            let sessions = try await controller.reset(device, at: entry.id, by: visitor.secret, exchange)
            let ended = sessions == 1 ? "1 session has ended" : "\(sessions) sessions have ended"
            return await page(entry, ["wasReset": ["endedSessions": ended]], visitor, exchange)
        } catch let refused as AdministrationError {
            return await page(entry, problem(refused.message, device), visitor, exchange, status: refused.status)
        } catch let fault as Fault {
            guard let text = UpstreamProblem.text(fault) else { throw fault }
            return await page(entry, problem(text, device), visitor, exchange, status: .unprocessableContent)
        }
    }

    private func problem(_ text: String, _ device: String = "") -> [String: Any] { ["problem": ["problemText": text], "device": device] }

    private func page(
        _ entry: ConsoleEntry, _ more: [String: Any], _ visitor: Visitor, _ exchange: Exchange, status: HTTPResponse.Status = .ok
    ) async -> Response {
        let content: [String: Any] = [
            "upstreamName": entry.id, "upstreamAddress": ConsoleCollection.upstreams.address(of: entry.id),
            "formAddress": ConsoleCollection.upstreams.address(of: entry.id, Self.page), "isShared": isShared(entry),
        ]
        return await console.page(
            "upstream-reset", "Reset a client at \(entry.id)", in: .upstreams, content.merging(more) { _, own in own }, for: visitor, exchange,
            status: status)
    }

    /// True where a client serves many devices, in what is live or in the draft: sessions keep the way of their login.
    private func isShared(_ entry: ConsoleEntry) -> Bool {
        let live = (try? console.dependencies.catalogue.current())?.upstream(entry.id)
        return live?.clientScope == .shared || entry.tree["clientScope"]?.text == "shared"
    }
}
