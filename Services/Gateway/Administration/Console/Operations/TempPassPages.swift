internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Forgets trials, so that a device or person has them again (dashboard §4).
struct TempPassPages: Sendable {
    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var content: [String: Any] = [:]
        if let count = try exchange.value("forgotten"), let trials = UInt32(count) { content["forgotten"] = ["trials": "\(trials)"] }
        return try await page(Typed(), content, visitor, exchange)
    }

    @Sendable func reset(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var typed = try Typed(exchange)
        guard typed.problems.isEmpty else { return try await page(typed, [:], visitor, exchange, status: .unprocessableContent) }
        let check = CheckAdministratorRequest(
            token: visitor.secret, permission: .resetTempPass, requestorID: typed.channel, mvpdID: typed.mvpd, subject: typed.subject)
        do {
            _ = try await console.administration.checkAdministrator(check, context: exchange.changingCall)
        } catch let fault as Fault where fault.code == .notFound || fault.code == .invalidRequest {
            typed.problems.append("The channel has no such TempPass.")
            return try await page(typed, [:], visitor, exchange, status: .unprocessableContent)
        }
        let request = ResetTempPassRequest(requestor: typed.channel, mvpd: typed.mvpd, scope: typed.scope)
        let outcome = try await console.dependencies.operations.resetTempPass(request, context: exchange.changingCall)
        return Console.seeOther(Console.address("temp-pass", query: ["forgotten": "\(outcome.trials)"]))
    }

    private func page(
        _ typed: Typed, _ more: [String: Any], _ visitor: Visitor, _ exchange: Exchange, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let catalogue = try console.dependencies.catalogue.current()
        let channels = try ConsoleScope(catalogue: console.dependencies.catalogue).channels(of: visitor.administrator)
        let passes = catalogue.configuration.mvpds.filter { if case .tempPass = $0.signIn { true } else { false } }
        let content: [String: Any] = [
            "channels": ConsoleScope.choices(channels, chosen: [typed.channel]), "formProblems": typed.problems,
            "hasProblems": !typed.problems.isEmpty, "isDevice": typed.whose == "device", "isKey": typed.whose == "key",
            "isEverybody": typed.whose == "all", "subject": typed.identifier, "confirmation": typed.confirmation,
            "passes": passes.map { pass in
                [
                    "passId": pass.id, "passName": pass.displayName.isEmpty ? pass.id : pass.displayName, "isPass": pass.id == typed.mvpd,
                ] as [String: Any]
            },
        ]
        return await console.page(
            "temp-pass", "TempPass", in: .tempPass, content.merging(more) { own, _ in own }, for: visitor, exchange, status: status)
    }

    /// The administrator's input.
    private struct Typed {
        var channel = ""
        var mvpd = ""
        /// `device`, `key` or `all`.
        var whose = "device"
        var identifier = ""
        var confirmation = ""
        var problems: [String] = []

        init() {}

        init(_ exchange: Exchange) throws {
            channel = try exchange.value("requestor") ?? ""
            mvpd = try exchange.value("mvpd") ?? ""
            whose = try exchange.value("whose") ?? ""
            identifier = (try exchange.value("subject") ?? "").trimmed
            confirmation = (try exchange.value("confirmation") ?? "").trimmed
            if channel.isEmpty { problems.append("Choose a channel.") }
            if mvpd.isEmpty { problems.append("Choose a TempPass.") }
            switch whose {
            case "all": if confirmation != channel { problems.append("Type the channel's id: everybody's trials would be forgotten.") }
            case "device", "key": if identifier.isEmpty || identifier == "all" { problems.append("Give the id of the device or person.") }
            default: problems.append("Choose whose trials are forgotten.")
            }
        }

        var scope: ResetTempPassRequest.Scope {
            switch whose {
            case "key": .key(identifier)
            case "device": .deviceID(identifier)
            default: .deviceID("")
            }
        }

        /// The audit log must not become a list of devices and people.
        var subject: String {
            whose == "all" ? "everyone" : "\(whose == "key" ? "identifier" : "device") \(identifier.prefix(4))…"
        }
    }
}
