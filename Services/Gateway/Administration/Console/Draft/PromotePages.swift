internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// Takes over what another cluster's catalogue has otherwise, from a file that its console exported: neither cluster knows the other's people (dashboard §1).
struct PromotePages: Sendable {
    static let path = Console.address("promote")

    let console: Console

    private struct Typed {
        var catalogue = ""
        var keepsEndpoints = true
        var keepsOthers = true
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        await page(Typed(), nil, visitor, exchange)
    }

    @Sendable func promote(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let typed = Typed(
            catalogue: (try exchange.value("catalogue") ?? "").trimmed, keepsEndpoints: try exchange.value("endpoints") == "keep",
            keepsOthers: try exchange.value("others") == "keep")
        let request = PromoteCatalogueRequest(
            token: visitor.secret, catalogue: typed.catalogue, keepEndpoints: typed.keepsEndpoints, keepOthers: typed.keepsOthers)
        switch try await console.administration.promoteCatalogue(request, context: exchange.changingCall).outcome {
        case .draft(let draft) where draft.changes.isEmpty: return await page(typed, nil, visitor, exchange, isSame: true)
        case .draft: return Console.seeOther(ConsolePlace.draft.address)
        case .refusal(let refusal): return await page(typed, refusal, visitor, exchange, status: AdministrationError(refusal).status)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    /// A version as a file for another cluster.
    @Sendable func export(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let number = try exchange.number("version")
        let snapshot = try await console.administration.getVersion(
            GetVersionRequest(token: visitor.secret, version: number), context: exchange.call)
        var response = Response(json: Array(snapshot.documentJson.utf8), status: .ok)
        response.headers[.contentDisposition] = "attachment; filename=\"catalogue-\(number).json\""
        return response
    }

    private func page(
        _ typed: Typed, _ refusal: Refusal?, _ visitor: Visitor, _ exchange: Exchange, isSame: Bool = false, status: HTTPResponse.Status = .ok
    ) async -> Response {
        var content: [String: Any] = [
            "catalogue": typed.catalogue, "keepsEndpoints": typed.keepsEndpoints, "keepsOthers": typed.keepsOthers, "isSame": isSame,
            "mayPromote": visitor.mayEdit,
        ]
        if let refusal { content["refused"] = RefusalContent(refusal).content }
        return await console.page("promote", "Take over from another cluster", in: .history, content, for: visitor, exchange, status: status)
    }
}
