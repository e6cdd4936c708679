internal import Clocks
internal import FoundationEssentials
internal import Hummingbird
internal import SandboxKit

/// Routes by which tests control the stand-in vendor: `/control/…`, for this machine alone.
struct VendorControlRoutes: Sendable {
    private typealias Message = VendorControlMessages

    let memory: VendorMemory
    let faults: VendorFaults
    let log: VendorLog
    let clock: AdjustableClock
    let issuer: StatementIssuer
    let making: ProfileMaking

    func add(to router: Router<SandboxContext>) {
        let control = router.group("/control").add(middleware: LoopbackOnly())
        addCalls(to: control)
        addDecisions(to: control)
        VendorClientControl(memory: memory, clock: clock, issuer: issuer).add(to: control)
        VendorCatalogueControl(memory: memory).add(to: control)
        VendorProfileControl(memory: memory, clock: clock, making: making).add(to: control)
    }

    /// Log, clock, faults, behaviour.
    private func addCalls(to control: RouterGroup<SandboxContext>) {
        control.get("/log") { request, _ in
            let name = ControlReader.query("operation", request)
            let operation = name.flatMap(VendorOperation.init)
            if let name, operation == nil { throw HTTPError(.badRequest, message: "operation '\(name)' is unknown") }
            let after = ControlReader.query("after", request).flatMap { Int($0) } ?? 0
            return try ControlReader.json(log.report(operation, after: after, mvpdQuestions: memory.access { $0.mvpdQuestions }))
        }
        control.delete("/log") { _, _ in
            log.reset()
            memory.access { $0.mvpdQuestions = 0 }
            return HTTPResponse.Status.noContent
        }
        control.post("/reset") { _, _ in
            memory.reset()
            faults.reset()
            log.reset()
            clock.shift(by: .zero)
            return HTTPResponse.Status.noContent
        }
        control.post("/clock") { request, _ in
            let message = try await ControlReader.read(Message.Clock.self, request)
            clock.shift(by: try ControlReader.checked { try Message.span(message.offsetSeconds, "offsetSeconds") })
            return HTTPResponse.Status.noContent
        }
        control.get("/faults") { _, _ in try ControlReader.json(faults.waiting) }
        control.post("/faults") { request, _ in
            let message = try await ControlReader.read(Message.Faults.self, request)
            try ControlReader.checked {
                for (index, fault) in message.faults.enumerated() { try fault.check("faults[\(index)]") }
                let operations = message.operations ?? VendorOperation.allCases
                if operations.isEmpty { throw SettingsFault(key: "operations", problem: "names none; leave it out for all") }
                try faults.append(message.faults.map { VendorFaults.Waiting(operations: operations, fault: $0) })
            }
            return HTTPResponse.Status.noContent
        }
        control.delete("/faults") { request, _ in
            faults.reset(ControlReader.query("operation", request).flatMap(VendorOperation.init))
            return HTTPResponse.Status.noContent
        }
        control.get("/behaviour") { _, _ in try ControlReader.json(memory.access { $0.behaviour }) }
        control.put("/behaviour") { request, _ in
            let message = try await ControlReader.read(Message.Behaviour.self, request)
            try ControlReader.checked {
                try memory.access { state in
                    try state.behaviour.change(message)
                    if message.throttle != nil { state.throttle = VendorThrottle() }
                }
            }
            return HTTPResponse.Status.noContent
        }
    }

    /// Rules of degradation, scripted decisions, trials.
    private func addDecisions(to control: RouterGroup<SandboxContext>) {
        control.get("/rules") { _, _ in try ControlReader.json(memory.access { $0.rules }) }
        control.put("/rules") { request, _ in
            let rules = try await ControlReader.read([DegradationRule].self, request)
            try ControlReader.checked {
                guard rules.count <= 1000 else { throw SettingsFault(key: "", problem: "has more than 1000 rules") }
            }
            memory.access { $0.rules = rules }
            return HTTPResponse.Status.noContent
        }
        control.put("/decisions") { request, _ in
            let scripted = try await ControlReader.read([ScriptedDecision].self, request)
            try ControlReader.checked {
                guard scripted.count <= 1000 else { throw SettingsFault(key: "", problem: "has more than 1000 decisions") }
                for (index, decision) in scripted.enumerated() { try decision.check("[\(index)]") }
            }
            memory.access { $0.scripted = scripted }
            return HTTPResponse.Status.noContent
        }
        control.delete("/permits") { _, _ in
            memory.access { $0.permits = VendorPermits() }
            return HTTPResponse.Status.noContent
        }
        control.get("/trials") { _, _ in try ControlReader.json(memory.access { $0.trials.all }) }
        control.delete("/trials") { _, _ in
            memory.access { $0.trials = TempPassTrials() }
            return HTTPResponse.Status.noContent
        }
    }
}

/// Reads and answers control messages.
enum ControlReader {
    private static let largestMessage = 24 * 1024 * 1024

    static func read<Value: Decodable>(_ type: Value.Type, _ request: Request) async throws -> Value {
        let octets = Array(buffer: try await request.body.collect(upTo: largestMessage))
        return try checked { try SettingsFault.decode(type, from: octets) }
    }

    /// Says what is wrong with a message.
    static func checked<Value>(_ act: () throws -> Value) throws -> Value {
        do {
            return try act()
        } catch let fault as SettingsFault {
            throw HTTPError(.badRequest, message: "\(fault)")
        }
    }

    static func json(_ value: some Encodable) throws -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try VendorAnswer.encoded(value))))
    }

    /// A value of the query, decoded.
    static func query(_ name: String, _ request: Request) -> String? {
        (try? FormFields(encoded: request.uri.query ?? "").single(name)) ?? nil
    }
}

/// Statements, clients and tokens under control.
struct VendorClientControl: Sendable {
    let memory: VendorMemory
    let clock: AdjustableClock
    let issuer: StatementIssuer

    func add(to control: RouterGroup<SandboxContext>) {
        control.get("/statements") { _, _ in try ControlReader.json(memory.access { $0.registry.statements }) }
        control.post("/statements") { request, _ in
            let message = try await ControlReader.read(VendorControlMessages.Statement.self, request)
            let made = try ControlReader.checked {
                let made = try statement(message)
                try memory.access { try $0.registry.set(made) }
                return made
            }
            return try ControlReader.json(made)
        }
        control.delete("/statements/{id}") { request, context in
            let id = try context.parameters.require("id")
            let isRevoked = memory.access { state in
                guard state.registry.revokeStatement(id) else { return false }
                guard ControlReader.query("clients", request) == "true" else { return true }
                for client in state.registry.allClients where client.statement == id { _ = state.registry.revokeClient(client.id) }
                return true
            }
            return isRevoked ? HTTPResponse.Status.noContent : .notFound
        }
        control.get("/clients") { _, _ in try ControlReader.json(memory.access { $0.registry.allClients }) }
        control.delete("/clients/{id}") { _, context in
            let id = try context.parameters.require("id")
            return memory.access { $0.registry.revokeClient(id) } ? HTTPResponse.Status.noContent : .notFound
        }
        control.delete("/clients") { _, _ in
            memory.access { state in for client in state.registry.allClients { _ = state.registry.revokeClient(client.id) } }
            return HTTPResponse.Status.noContent
        }
        control.delete("/tokens") { request, _ in
            memory.access { $0.registry.expireTokens(of: ControlReader.query("client", request)) }
            return HTTPResponse.Status.noContent
        }
        control.put("/identities") { request, _ in
            let message = try await ControlReader.read(VendorControlMessages.Identity.self, request)
            memory.access { $0.identities.set(message.token, message.id.map { SsoIdentity(kind: message.kind, id: $0) }) }
            return HTTPResponse.Status.noContent
        }
        control.post("/partner-answers") { request, _ in
            let message = try await ControlReader.read(VendorControlMessages.PartnerAnswer.self, request)
            return try ControlReader.json(
                try ControlReader.checked {
                    guard let id = Base64.octets(message.request).flatMap(PartnerMessages.requestID) else {
                        throw SettingsFault(key: "request", problem: "is no request of the stand-in")
                    }
                    let answer = PartnerMessages.response(to: id, person: message.person)
                    return VendorControlMessages.PartnerAnswered(response: Base64.text(Array(answer.utf8)))
                })
        }
    }

    private func statement(_ message: VendorControlMessages.Statement) throws -> SoftwareStatement {
        guard (1...128).contains(message.id.utf8.count) else { throw SettingsFault(key: "id", problem: "does not have 1 to 128 octets") }
        let scopes = message.scopes ?? [SoftwareStatement.apiScope]
        let providers = message.serviceProviders ?? ["*"]
        guard let text = message.text else { return try issuer.statement(message.id, serviceProviders: providers, scopes: scopes) }
        guard (1...16_384).contains(text.utf8.count) else { throw SettingsFault(key: "text", problem: "does not have 1 to 16384 octets") }
        return SoftwareStatement(id: message.id, text: text, serviceProviders: providers, scopes: scopes)
    }
}
