internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// What an administrator has changed and not pushed (dashboard §4).
struct DraftEndpoints: Sendable {
    let administration: any Administration
    let operations: any AuthenticationOperations

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let draft = try await administration.getDraft(GetDraftRequest(token: try exchange.administrator()), context: exchange.call)
        if !draft.etag.isEmpty, EntityTag(draft.etag).isNamed(in: exchange.headers[.ifNoneMatch]) { return .notModified(EntityTag(draft.etag)) }
        return Self.reply(draft)
    }

    @Sendable func discard(_ exchange: Exchange) async throws -> Response {
        _ = try await administration.discardDraft(DiscardDraftRequest(token: try exchange.administrator()), context: exchange.changingCall)
        return .empty(.noContent)
    }

    @Sendable func drop(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        guard let number = UInt32(exactly: try exchange.number("change")) else { throw AdministrationError.notFound("There is no such change.") }
        let request = DropChangeRequest(token: token, number: number, ifMatch: try exchange.ifMatch())
        return Self.reply(try Self.draft(try await administration.dropChange(request, context: exchange.changingCall)))
    }

    @Sendable func push(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let description = try AdministrationBody.object(exchange) { $0.text("description") }
        let ifMatch = try exchange.ifMatch()
        let request = PushDraftRequest(
            token: token, description: description, ifMatch: ifMatch, secrets: await .asked(of: operations, for: exchange))
        return try PushEndpoints.reply(try await administration.pushDraft(request, context: exchange.changingCall))
    }

    /// What another cluster's catalogue has otherwise.
    @Sendable func promote(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (catalogue, kept) = try AdministrationBody.object(exchange) { body in
            let kept = body.texts("keep")
            if kept.contains(where: { !["endpoints", "others"].contains($0) }) {
                body.optional("keep")?.problem("must hold 'endpoints' or 'others'")
            }
            return (body.required("catalogue")?.text ?? "", kept)
        }
        let request = PromoteCatalogueRequest(
            token: token, catalogue: catalogue, keepEndpoints: kept.contains("endpoints"), keepOthers: kept.contains("others"))
        return Self.reply(try Self.draft(try await administration.promoteCatalogue(request, context: exchange.changingCall)))
    }

    static func reply(_ draft: CatalogueDraft) -> Response {
        Response(AdministrationDocuments.draft(draft), format: .json).with(EntityTag(draft.etag))
    }

    static func draft(_ outcome: DraftOutcome) throws -> CatalogueDraft {
        switch outcome.outcome {
        case .draft(let draft): return draft
        case .refusal(let refusal): throw AdministrationError(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }
}
