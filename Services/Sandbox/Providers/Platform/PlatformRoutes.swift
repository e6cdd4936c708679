internal import Clocks
internal import FoundationEssentials
package import Hummingbird
package import SandboxKit

/// The stand-in Apple: the answers of a device's framework, and the routes by which tests set its state. Only callers on the same machine get
/// an answer.
package struct PlatformRoutes: Sendable {
    private static let largestMessage = 256 * 1024

    let framework: PlatformFramework
    let tokens: IdentityTokens
    let accounts: PlatformAccounts
    let clock: any WallClock
    let log: RequestLog

    /// Adds the routes of the address of the stand-in Apple.
    package func add(to router: Router<SandboxContext>) {
        let platform = router.group("/platform").add(middleware: LoopbackOnly())
        platform.put("/accounts/{account}") { request, context in
            let account = try await read(request) { octets throws(SettingsFault) in try PlatformAccount(json: octets, now: clock.now()) }
            accounts.set(account, for: try context.parameters.require("account"))
            return HTTPResponse.Status.noContent
        }
        platform.post("/access") { request, _ in
            let question = try await read(request) { octets throws(SettingsFault) in try SettingsFault.decode(AccessRequest.self, from: octets) }
            return try Self.json(AccessReport(access: accounts.account(question.account).access))
        }
        platform.post("/metadata") { request, _ in
            try answer(try await read(request) { octets throws(SettingsFault) in try SettingsFault.decode(MetadataRequest.self, from: octets) })
        }
        platform.post("/identity-token") { request, _ in
            let order = try await read(request) { octets throws(SettingsFault) in try SettingsFault.decode(IdentityTokens.Order.self, from: octets) }
            do {
                return try Self.json(TokenReport(token: try tokens.token(order, now: clock.now())))
            } catch let fault as SettingsFault {
                throw HTTPError(.badRequest, message: "\(fault)")
            }
        }
    }

    private struct AccessRequest: Decodable {
        let account: String
    }

    private struct AccessReport: Encodable {
        let access: PlatformAccount.Access
    }

    private struct TokenReport: Encodable {
        let token: String
    }

    private func answer(_ request: MetadataRequest) throws -> Response {
        let (metadata, account) = framework.answer(request, accounts.account(request.account), now: clock.now())
        accounts.set(account, for: request.account)
        let outcome = metadata.error.map { "error-\($0.code)" } ?? (metadata.samlAttributeQueryResponse == nil ? "metadata" : "answered")
        let provider = account.provider ?? ""
        log.count("platform", mvpd: provider)
        log.note("platform", mvpd: provider, outcome: outcome, at: clock.now())
        return try Self.json(metadata)
    }

    private func read<Value>(_ request: Request, _ parse: ([UInt8]) throws(SettingsFault) -> Value) async throws -> Value {
        let octets = Array(buffer: try await request.body.collect(upTo: Self.largestMessage))
        do {
            return try parse(octets)
        } catch {
            throw HTTPError(.badRequest, message: "\(error)")
        }
    }

    private static func json(_ value: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ByteBuffer(bytes: try encoder.encode(value))
        return Response(status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }
}
