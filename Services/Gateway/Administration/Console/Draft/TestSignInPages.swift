internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Tries a sign-in by the draft before it is pushed. It shows each check of the MVPD's answer as soon as it is there (dashboard §7).
struct TestSignInPages: Sendable {
    static let path = Console.address("test-sign-in")
    /// Between two looks.
    private static let seconds = 3
    private static let mostChannels: UInt32 = 200

    let console: Console

    private var controller: TestSignInController {
        TestSignInController(
            administration: console.administration, operations: console.dependencies.operations,
            origin: console.dependencies.settings.originOfSignIns)
    }

    private var reader: SignInReader {
        SignInReader(operations: console.dependencies.operations, catalogue: console.dependencies.catalogue)
    }

    static func address(mvpd: String, requestor: String = "") -> String {
        Console.address("test-sign-in", query: ["mvpd": mvpd, "requestor": requestor])
    }

    /// Asks for which channel.
    @Sendable func choose(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        try await page(try Choice(exchange), nil, visitor, exchange, status: .ok)
    }

    @Sendable func begin(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let choice = try Choice(exchange)
        do {
            let test = try await controller.begin(requestor: choice.requestor, mvpd: choice.mvpd, by: visitor.secret, exchange)
            return Console.seeOther(
                Running(choice: choice, id: test.id, ticket: String(test.address.split(separator: "/").last ?? ""), etag: test.draftEtag).address)
        } catch let refused as AdministrationError {
            return try await page(choice, refused, visitor, exchange, status: refused.status)
        }
    }

    /// Waits for the report.
    @Sendable func watch(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let running = Running(
            choice: try Choice(exchange), id: try exchange.captured("id"), ticket: try exchange.value("ticket") ?? "",
            etag: try exchange.value("etag") ?? "", isPaused: try exchange.value("paused") == "1")
        let report = try await report(running.id, exchange, visitor)
        var content: [String: Any] = [
            "tested": running.choice.mvpd, "testedAddress": ConsoleCollection.mvpds.address(of: running.choice.mvpd),
            "channel": running.choice.requestor, "isDraft": !running.etag.isEmpty,
            "againAddress": Self.address(mvpd: running.choice.mvpd, requestor: running.choice.requestor),
        ]
        guard let report else {
            let isRunning = !running.isPaused
            content["waiting"] = [
                "openAddress": controller.address(running.ticket), "isRunning": isRunning, "seconds": "\(Self.seconds)",
                "pauseAddress": running.paused(true).address, "lookAddress": running.paused(false).address,
            ]
            var response = await console.page(
                "test-sign-in", "Test a sign-in", window: "Test of a sign-in at \(running.choice.mvpd), waiting", in: .draft, content, for: visitor,
                exchange)
            // By a header: the page works without scripts.
            if isRunning { response.headers[.refresh] = "\(Self.seconds)" }
            return response
        }
        var ended = SignInPages.content(report)
        if report.result == .signedIn, let push = try await push(running, exchange, visitor) { ended["push"] = push }
        content["ended"] = ended
        return await console.page(
            "test-sign-in", "Test a sign-in", window: "Test of a sign-in at \(running.choice.mvpd), ended", in: .draft, content, for: visitor,
            exchange)
    }

    /// - Returns: `nil` as long as the MVPD has not answered.
    private func report(_ id: String, _ exchange: Exchange, _ visitor: Visitor) async throws -> SignInReport? {
        do {
            return try await reader.report(id, for: visitor.administrator, exchange)
        } catch let fault as Fault where fault.code == .notFound {
            return nil
        }
    }

    /// Pushes the draft that was tried, or nothing: a draft that changed since has to be tried again.
    private func push(_ running: Running, _ exchange: Exchange, _ visitor: Visitor) async throws -> [String: Any]? {
        guard !running.etag.isEmpty else { return nil }
        let draft = try await console.administration.getDraft(GetDraftRequest(token: visitor.secret), context: exchange.call)
        guard OctetText(draft.etag) == OctetText(running.etag) else { return ["hasChanged": true] }
        return [
            "mayPush": [
                "etag": draft.etag, "changeCount": "\(draft.changes.count)", "onlyOne": draft.changes.count == 1,
                "description": "\(running.choice.mvpd) at \(running.choice.requestor), tested",
            ] as [String: Any]
        ]
    }

    private func page(
        _ choice: Choice, _ refused: AdministrationError?, _ visitor: Visitor, _ exchange: Exchange, status: HTTPResponse.Status
    ) async throws -> Response {
        let request = ListEntitiesRequest(
            token: visitor.secret, kind: .integration, page: PageRequest(page: 1, size: Self.mostChannels), mvpdID: choice.mvpd)
        let integrations = choice.mvpd.isEmpty ? [] : try await console.administration.listEntities(request, context: exchange.call).entities
        let channels = integrations.map { ConsoleEntry(.integrations, $0).id.split(separator: "/", maxSplits: 1).first.map(String.init) ?? "" }
        var content: [String: Any] = [
            "tested": choice.mvpd, "testedAddress": ConsoleCollection.mvpds.address(of: choice.mvpd),
            "choice": [
                "channels": channels.map { ["channelId": $0, "isChosen": OctetText($0) == OctetText(choice.requestor)] as [String: Any] },
                "hasChannels": !channels.isEmpty,
                "integrateAddress": Console.address("new", "integrations", query: ["mvpd": choice.mvpd]),
            ] as [String: Any],
        ]
        if let refused {
            content["problems"] = [refused.message] + refused.problems.map { $0.field.isEmpty ? $0.message : "\($0.field) \($0.message)" }
            content["hasProblems"] = true
        }
        return await console.page(
            "test-sign-in", "Test a sign-in", window: "Test a sign-in at \(choice.mvpd)", in: .draft, content, for: visitor, exchange, status: status)
    }

    /// The sign-in to try.
    private struct Choice {
        let mvpd: String
        let requestor: String

        init(_ exchange: Exchange) throws {
            mvpd = (try exchange.value("mvpd") ?? "").trimmed
            requestor = (try exchange.value("requestor") ?? "").trimmed
        }
    }

    /// A test, as the address of its page has it.
    private struct Running {
        let choice: Choice
        let id: String
        let ticket: String
        let etag: String
        var isPaused = false

        func paused(_ isPaused: Bool) -> Running {
            var other = self
            other.isPaused = isPaused
            return other
        }

        var address: String {
            Console.address(
                "test-sign-in", id,
                query: ["mvpd": choice.mvpd, "requestor": choice.requestor, "ticket": ticket, "etag": etag, "paused": isPaused ? "1" : ""])
        }
    }
}

/// The review of what an administrator has changed, and its push (dashboard §4).
struct DraftPages: Sendable {
    let console: Console

    /// The messages that a page shows beside the draft.
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
            let new = ChangeRows.newMembers(in: draft.changes)
            if !new.isEmpty { content["newMembers"] = ["names": new.joined(separator: ", ")] }
        }
        if let refusal = word.refusal {
            content["refused"] = RefusalContent(refusal).content
            if refusal.reason == .preconditionFailed { content["wasChanged"] = true }
        }
        return await console.page("draft", "Review changes", in: .draft, content, for: visitor, exchange, status: status)
    }
}
