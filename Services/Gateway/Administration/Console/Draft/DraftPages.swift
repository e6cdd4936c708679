internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The review of what an administrator has changed, and its push (dashboard §4).
struct DraftPages: Sendable {
    let console: Console

    /// What a page says beside the draft.
    private struct Word {
        var description = ""
        var refusal: Refusal?
        var needsDescription = false
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        try await page(Word(), visitor, exchange, status: .ok)
    }

    @Sendable func push(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let description = (try exchange.value("description") ?? "").trimmed.replacing("\r\n", with: "\n")
        guard !description.isEmpty else {
            return try await page(Word(needsDescription: true), visitor, exchange, status: .unprocessableContent)
        }
        let request = PushDraftRequest(
            token: visitor.secret, description: description, ifMatch: try exchange.value("etag") ?? "",
            secrets: await .asked(of: console.dependencies.operations, for: exchange))
        switch try await console.administration.pushDraft(request, context: exchange.changingCall).outcome {
        case .version(let version): return Console.seeOther(Console.address("history", "\(version.version)", query: ["pushed": "1"]))
        case .pending, .declined: return Console.seeOther(Console.address("history", query: ["waits": "1"]))
        case .refusal(let refusal):
            return try await page(
                Word(description: description, refusal: refusal), visitor, exchange, status: AdministrationError(refusal).status)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    @Sendable func drop(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        guard let number = UInt32(try exchange.required("number")) else { throw Fault(.notFound, "There is no such change.") }
        let request = DropChangeRequest(token: visitor.secret, number: number, ifMatch: try exchange.value("etag") ?? "")
        switch try await console.administration.dropChange(request, context: exchange.changingCall).outcome {
        case .draft: return Console.seeOther(ConsolePlace.draft.address)
        case .refusal(let refusal):
            return try await page(Word(refusal: refusal), visitor, exchange, status: AdministrationError(refusal).status)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    @Sendable func dismiss(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        _ = try await console.administration.discardDraft(DiscardDraftRequest(token: visitor.secret), context: exchange.changingCall)
        return Console.seeOther(Console.address("draft", query: ["dismissed": "1"]))
    }

    private func page(_ word: Word, _ visitor: Visitor, _ exchange: Exchange, status: HTTPResponse.Status) async throws -> Response {
        let draft = try await console.administration.getDraft(GetDraftRequest(token: visitor.secret), context: exchange.call)
        var content: [String: Any] = [
            "etag": draft.etag, "baseVersion": "\(draft.baseVersion)", "description": word.description,
            "needsDescription": word.needsDescription, "wasDismissed": (try? exchange.value("dismissed")) == "1",
        ]
        if !draft.changes.isEmpty {
            content["review"] = [
                "changes": ChangeRows(draft.changes).rows, "mayDrop": true, "changeCount": "\(draft.changes.count)",
                "onlyOne": draft.changes.count == 1,
            ]
            if let omitted = ChangeRows.omitted(draft.changes) { content["omitted"] = omitted }
        }
        if let refusal = word.refusal {
            content["refused"] = RefusalContent(refusal).content
            if refusal.reason == .preconditionFailed { content["wasChanged"] = true }
        }
        return await console.page("draft", "Review changes", in: .draft, content, for: visitor, exchange, status: status)
    }
}
