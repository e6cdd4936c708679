internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Tries each step that the bridge needs of an upstream, at the upstream itself (bridge §15.3); a person may sign in and play too.
struct UpstreamCheckPages: Sendable {
    static let page = "check"
    /// The first step that the further parts do not stand on (bridge §15.3).
    private static let foundation: UInt32 = 4

    let console: Console

    private var controller: UpstreamController {
        UpstreamController(administration: console.administration, operations: console.dependencies.operations)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await EntryPages(console: console, collection: .upstreams).entry(exchange, visitor)
        return await page(entry, Walk(requestor: try exchange.value("requestor") ?? ""), visitor, exchange)
    }

    @Sendable func walk(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await EntryPages(console: console, collection: .upstreams).entry(exchange, visitor)
        var walk = Walk(requestor: try exchange.value("requestor") ?? "")
        let question = CheckUpstreamRequest(
            upstream: entry.id, requestor: walk.requestor, ticket: try exchange.value("ticket") ?? "",
            certificate: (try exchange.value("certificate") ?? "").trimmed, resource: (try exchange.value("resource") ?? "").trimmed)
        walk.resource = question.resource
        walk.certificate = question.certificate
        guard question.certificate.utf8.count <= UpstreamController.largestCertificate else {
            walk.problem = "The certificate must have at most \(UpstreamController.largestCertificate) octets."
            walk.ticket = question.ticket
            return await page(entry, walk, visitor, exchange)
        }
        for part in Self.parts(try exchange.value("step") ?? "", throttle: try exchange.value("throttle") == "on") {
            // A statement that is refused, or a host that is not there, fails all that follows.
            if part.part != .client, !walk.steps.isEmpty || walk.problem != nil, !walk.isFounded {
                walk.wasCut = true
                break
            }
            try await take(part, question, into: &walk, visitor, exchange)
        }
        if walk.isOpen { walk.ticket = question.ticket }
        return await page(entry, walk, visitor, exchange)
    }

    private static func parts(_ step: String, throttle: Bool) -> [UpstreamController.Part] {
        let words =
            switch step {
            case "signIn": ["signIn"]
            case "signedIn": ["signedIn"]
            default: ["client", "session", "decision"] + (throttle ? ["throttle"] : [])
            }
        return words.compactMap { word in UpstreamController.parts.first { $0.word == word } }
    }

    /// A part that cannot be walked is a word on the page, beside the steps that were.
    private func take(
        _ part: UpstreamController.Part, _ question: CheckUpstreamRequest, into walk: inout Walk, _ visitor: Visitor, _ exchange: Exchange
    ) async throws {
        var request = question
        request.part = part.part
        do {
            walk.take(try await controller.check(request, part: part.word, by: visitor.secret, exchange))
        } catch let fault as Fault {
            guard let problem = UpstreamProblem.text(fault) else { throw fault }
            walk.problem = problem
        }
    }

    private func page(_ entry: ConsoleEntry, _ walk: Walk, _ visitor: Visitor, _ exchange: Exchange) async -> Response {
        let channels = UpstreamSection.channels(of: entry.id, console)
        var content = walk.content
        content.merge([
            "upstreamName": entry.id, "upstreamAddress": ConsoleCollection.upstreams.address(of: entry.id),
            "formAddress": ConsoleCollection.upstreams.address(of: entry.id, Self.page),
            "channels": ConsoleScope.choices(channels, chosen: [walk.requestor]), "hasChannels": !channels.isEmpty,
        ]) { own, _ in own }
        return await console.page(
            "upstream-check", "Check \(entry.id)", in: .upstreams, content, for: visitor, exchange,
            status: walk.problem == nil ? .ok : .unprocessableContent)
    }

    /// The steps as they came.
    private struct Walk {
        var requestor: String
        var steps: [UpstreamCheckStep] = []
        var isUnreachable = false
        /// Nobody has signed in yet.
        var isOpen = false
        /// The further parts were not tried.
        var wasCut = false
        var browserAddress = ""
        var ticket = ""
        var certificate = ""
        var resource = ""
        var problem: String?

        init(requestor: String) { self.requestor = requestor }

        /// It is reached, takes our client, and gives a bearer: the further parts have a meaning.
        var isFounded: Bool {
            problem == nil && !isUnreachable && !steps.contains { $0.outcome == .failed && $0.step < UpstreamCheckPages.foundation }
        }

        mutating func take(_ check: UpstreamCheck) {
            requestor = check.requestor
            steps += check.steps
            isUnreachable = isUnreachable || check.isUnreachable
            isOpen = check.isOpen
            (browserAddress, ticket) = (check.browserAddress, check.ticket)
        }

        var content: [String: Any] {
            let hasFailed = steps.contains { $0.outcome == .failed }
            var content: [String: Any] = [
                "hasSteps": !steps.isEmpty, "checkSteps": steps.map(Self.step), "isUnreachable": isUnreachable, "isOpen": isOpen,
                "wasCut": wasCut && !steps.isEmpty, "isGood": !steps.isEmpty && !hasFailed && !isUnreachable && problem == nil,
                "isBad": hasFailed || isUnreachable, "checkedChannel": requestor,
            ]
            if let problem { content["problem"] = ["problemText": problem] }
            if !ticket.isEmpty {
                var person: [String: Any] = ["ticket": ticket, "certificate": certificate, "resource": resource]
                if !browserAddress.isEmpty { person["browserAddress"] = browserAddress }
                content["person"] = person
            } else if !steps.isEmpty, !hasFailed, !isUnreachable {
                content["mayGoOn"] = true
            }
            return content
        }

        private static func step(_ step: UpstreamCheckStep) -> [String: Any] {
            var content: [String: Any] = [
                "stepNumber": "\(step.step)", "stepTitle": step.title, "stepOutcome": word(step.outcome), "isPassed": step.outcome == .passed,
                "isFailed": step.outcome == .failed,
            ]
            guard step.outcome != .notReached else { return content }
            for (name, value) in [("expected", step.expected), ("seen", step.seen), ("advice", step.advice), ("upstreamTrace", step.trace)]
            where !value.isEmpty { content[name] = value }
            return content
        }

        private static func word(_ outcome: SignInCheckOutcome) -> String {
            switch outcome {
            case .passed: "passed"
            case .failed: "failed"
            case .notReached: "not reached"
            case .notNeeded: "not needed"
            case .notChecked, .unknown, .unrecognized: "not checked"
            }
        }
    }
}

/// The words for a question that an upstream, or the service that asks it, does not answer.
enum UpstreamProblem {
    /// - Returns: `nil`: the page of its code says all.
    static func text(_ fault: Fault) -> String? {
        switch fault.code {
        case .upstreamUnavailable: "The upstream does not answer, or refuses us. Check it: each step says what came and what to do."
        case .notFound: "What is live has no such upstream for the channel, or none of its clients serves it. Push your draft first."
        case .invalidRequest, .invalidRequestor, .invalidDeviceID: fault.message
        default: nil
        }
    }
}
