internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Rules that take effect without a push while an MVPD is in trouble (dashboard §4).
struct DegradationPages: Sendable {
    let console: Console

    @Sendable func list(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let rules = try await console.administration.listDegradationRules(
            ListDegradationRulesRequest(token: visitor.secret), context: exchange.call)
        var content: [String: Any] = [
            "rules": rules.rules.map(DegradationRow.content), "isEmpty": rules.rules.isEmpty,
            "wasStarted": (try? exchange.value("started")) == "1", "hasEnded": (try? exchange.value("ended")) == "1",
        ]
        if visitor.mayEdit { content["newAddress"] = Console.address("degradation", "new") }
        return await console.page("degradation", "Degradation", in: .degradation, content, for: visitor, exchange)
    }

    @Sendable func form(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let typed = DegradationForm(mvpds: try exchange.value("mvpd") ?? "", requestors: try exchange.all("requestor"))
        return try await page(typed, visitor, exchange)
    }

    /// One rule for each channel and MVPD; the first that is refused ends it, and what began until then is told.
    @Sendable func start(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var typed = try DegradationForm(exchange)
        guard typed.isComplete else { return try await page(typed, visitor, exchange, status: .unprocessableContent) }
        let end = UInt64(clamping: SystemClock().now().milliseconds) + UInt64(typed.minutes) * 60_000
        for requestor in typed.requestors {
            let request = StartDegradationRequest(
                token: visitor.secret, kind: typed.kind, requestorID: requestor, mvpdIDs: typed.mvpdIDs, endsAtMilliseconds: end,
                message: typed.message, reason: typed.reason)
            var call = exchange.changingCall
            // One call for each channel: each is a change of its own.
            call.idempotencyKey = "\(exchange.facts.requestID)-\(requestor)"
            switch try await console.administration.startDegradation(request, context: call).outcome {
            case .started: continue
            case .refusal(let refusal):
                typed.problems.append("\(requestor): \(refusal.message)")
                typed.problems += refusal.problems.map { "\(requestor): \($0.field) \($0.message)" }
                return try await page(typed, visitor, exchange, status: AdministrationError(refusal).status)
            case nil: throw Fault(.internal, "config answered without an outcome.")
            }
        }
        return Console.seeOther(Console.address("degradation", query: ["started": "1"]))
    }

    @Sendable func end(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let request = EndDegradationRequest(token: visitor.secret, id: try exchange.required("id"))
        do { _ = try await console.administration.endDegradation(request, context: exchange.changingCall) } catch let fault as Fault
            // It has ended by itself meanwhile.
            where fault.code == .notFound
        {}
        return Console.seeOther(Console.address("degradation", query: ["ended": "1"]))
    }

    private func page(
        _ form: DegradationForm, _ visitor: Visitor, _ exchange: Exchange, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let request = ListEntitiesRequest(token: visitor.secret, kind: .requestor, page: PageRequest(page: 1, size: 200))
        let channels = try await console.administration.listEntities(request, context: exchange.call)
        var content = form.content(channels: channels.entities.map { ConsoleEntry(.channels, $0) })
        content["degradationAddress"] = ConsolePlace.degradation.address
        return await console.page("degrade", "Start a degradation", in: .degradation, content, for: visitor, exchange, status: status)
    }
}
