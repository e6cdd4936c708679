internal import Hummingbird

/// Routes by which tests control the OAuth providers; only callers on the same machine get an answer.
struct OAuthControlRoutes: Sendable {
    private static let largestMessage = 16 * 1024

    let providers: [String: OAuthProvider]

    func add(to router: Router<SandboxContext>) {
        let control = router.group("/control/oauth").add(middleware: LoopbackOnly())
        control.post("/{mvpd}") { request, context in
            let provider = try provider(context)
            let octets = Array(buffer: try await request.body.collect(upTo: Self.largestMessage))
            do throws(SettingsFault) {
                provider.memory.behave(try OAuthBehaviour(json: octets))
            } catch {
                throw HTTPError(.badRequest, message: "\(error)")
            }
            return HTTPResponse.Status.noContent
        }
        control.post("/{mvpd}/rotate-keys") { _, context in
            let provider = try provider(context)
            guard provider.keys.count > 1 else { throw HTTPError(.conflict, message: "There is no second key: oauth.nextKey") }
            provider.memory.rotateKeys()
            return HTTPResponse.Status.noContent
        }
    }

    private func provider(_ context: SandboxContext) throws -> OAuthProvider {
        guard let provider = providers[try context.parameters.require("mvpd")] else { throw HTTPError(.notFound) }
        return provider
    }
}
