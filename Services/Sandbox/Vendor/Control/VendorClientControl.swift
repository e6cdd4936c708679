internal import SandboxKit
internal import Clocks
internal import Hummingbird

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
