import AutoSignInService
import ContractRuntime
import Contracts
import Faults
import PeerDoubles
import Rpc

/// The difference of an autosignin service from a good one. It lies in its answers, in the facts that it is told of a caller, or in its state after a
/// restart.
struct AutoSignInMutant: Sendable, CustomStringConvertible {
    let description: String
    /// The requirements that must fail.
    let breaks: [String]
    /// Its state is gone after a restart.
    var losesStore = false
    /// It has another key for everything that is sealed after a restart.
    var losesKey = false
    var redeemsPerMinute = 1000
    var familiesPerAccount = 20
    /// The facts that it believes of a caller's login.
    var login: @Sendable (inout Login) -> Void = { _ in }
    /// The methods that it answers itself.
    var methods: [String] = []
    var register: @Sendable (AutoSignIn, inout RpcServices) -> Void = { _, _ in }

    static let none = AutoSignInMutant(description: "none", breaks: [])

    static var all: [AutoSignInMutant] { tooPermissive + prying + forgetful + tooStrict + disorderly + untimely }

    /// One that answers one method in another way.
    private static func mutant<Request: Message, Response: Message>(
        _ description: String, _ method: UnaryMethod<Request, Response>, breaks: [String],
        _ answer: @escaping @Sendable (AutoSignIn, Request, CallContext) async throws -> Response
    ) -> AutoSignInMutant {
        AutoSignInMutant(
            description: description, breaks: breaks, methods: [method.name],
            register: { service, services in services.unary(method) { try await answer(service, $0, $1) } })
    }

    // MARK: Too permissive

    private static let tooPermissive = [
        AutoSignInMutant(
            description: "takes a sign-in of any age", breaks: ["AUTO-2"],
            login: { $0.authenticatedAtMilliseconds += 3_600_000 }),
        AutoSignInMutant(
            description: "takes a session by a value for a person's", breaks: ["AUTO-19"],
            login: { login in if login.session?.kind == .automatic { login.session?.kind = .regular } }),
        mutant("issues values without consent", AutomaticSignInMethods.issueToken, breaks: ["AUTO-2"]) { service, request, context in
            var request = request
            request.contextAuthorization = .granted
            return try await service.automaticSignIn.issueToken(request, context: context)
        },
        mutant("redeems in any environment", AutomaticSignInMethods.redeemToken, breaks: ["AUTO-6"]) { service, request, context in
            var request = request
            request.environment = .production
            return try await service.automaticSignIn.redeemToken(request, context: context)
        },
        mutant("gives scopes of the account", AutomaticSignInMethods.redeemToken, breaks: ["AUTO-18"]) { service, request, context in
            var redeemed = try await service.automaticSignIn.redeemToken(request, context: context)
            redeemed.session?.scopes.append("account:write")
            return redeemed
        },
        reopening,
        mutant("believes every notification", SignInWithAppleMethods.receiveNotification, breaks: ["AUTO-12"]) { _, _, _ in
            AppleNotificationResponse(hadEffect: true)
        },
        mutant("has one nonce", SignInWithAppleMethods.createNonce, breaks: ["AUTO-11"]) { service, request, context in
            var nonce = try await service.signInWithApple.createNonce(request, context: context)
            nonce.nonce = "nonce"
            return nonce
        },
    ]

    private static var reopening: AutoSignInMutant {
        let opened = Kept<WebSession>()
        return mutant("opens a web link again and again", AutomaticSignInMethods.openWebLink, breaks: ["AUTO-10", "AUTO-24"]) {
            service, request, context in
            do {
                let session = try await service.automaticSignIn.openWebLink(request, context: context)
                opened[request.handle] = session
                return session
            } catch {
                try await Task.sleep(for: .milliseconds(100))
                guard let session = opened[request.handle] else { throw error }
                return session
            }
        }
    }

    // MARK: What is another's

    private static var prying: [AutoSignInMutant] {
        let seen = Kept<[TokenFamily]>()
        let answers = Kept<IssuedToken>()
        return [
            mutant("lists everybody's families", AutomaticSignInMethods.getOptInStatus, breaks: ["AUTO-16"]) { service, request, context in
                var status = try await service.automaticSignIn.getOptInStatus(request, context: context)
                seen[status.accountID] = status.families
                status.families = seen.all.flatMap { $0 }
                return status
            },
            mutant("revokes anybody's family", AutomaticSignInMethods.revokeToken, breaks: ["AUTO-16"]) { service, request, context in
                var request = request
                request.caller = Caller(who: .backend(backend))
                return try await service.automaticSignIn.revokeToken(request, context: context)
            },
            mutant("confirms anybody's family", AutomaticSignInMethods.confirmStored, breaks: ["AUTO-16"]) { service, request, context in
                do {
                    return try await service.automaticSignIn.confirmStored(request, context: context)
                } catch {
                    let revoke = RevokeTokenRequest(caller: Caller(who: .backend(backend)), familyID: request.familyID)
                    _ = try await service.automaticSignIn.revokeToken(revoke, context: context)
                    return TokenFamily(id: request.familyID, state: .revoked)
                }
            },
            mutant("revokes everybody's families", AutomaticSignInMethods.revokeAll, breaks: ["AUTO-16"]) { service, request, context in
                var request = request
                if !request.accountID.isEmpty { request.caller = Caller(who: .backend(backend)) }
                return try await service.automaticSignIn.revokeAll(request, context: context)
            },
            mutant("lets anybody flag a session", AutomaticSignInMethods.flagSignIn, breaks: ["AUTO-16", "AUTO-22"]) { service, request, context in
                do {
                    return try await service.automaticSignIn.flagSignIn(request, context: context)
                } catch {
                    return RevokedFamilies()
                }
            },
            mutant("answers a key whoever sends it", AutomaticSignInMethods.issueToken, breaks: ["AUTO-20"]) { service, request, context in
                if let known = answers[request.idempotencyKey] { return known }
                let issued = try await service.automaticSignIn.issueToken(request, context: context)
                answers[request.idempotencyKey] = issued
                return issued
            },
        ]
    }

    /// A programmer's backend, which may do more than a device.
    private static let backend = BackendCall(accessToken: "conformance-bearer", requestor: "ACME1")

    // MARK: Forgetful

    private static var forgetful: [AutoSignInMutant] {
        let first = Kept<OptInStatus>()
        return [
            AutoSignInMutant(description: "keeps everything in memory", breaks: ["AUTO-23"], losesStore: true),
            AutoSignInMutant(description: "makes its key at each start", breaks: ["AUTO-23"], losesKey: true),
            mutant("does not revoke", AutomaticSignInMethods.revokeToken, breaks: ["AUTO-6", "AUTO-9", "AUTO-17"]) { _, _, _ in
                Revocation(revokedAtMilliseconds: 1_700_000_000_000)
            },
            mutant("knows no keys of opt-ins", AutomaticSignInMethods.issueToken, breaks: ["AUTO-3"]) { service, request, context in
                var request = request
                request.idempotencyKey = ""
                return try await service.automaticSignIn.issueToken(request, context: context)
            },
            mutant("knows no keys of redeems", AutomaticSignInMethods.redeemToken, breaks: ["AUTO-20"]) { service, request, context in
                var request = request
                request.idempotencyKey = ""
                return try await service.automaticSignIn.redeemToken(request, context: context)
            },
            mutant("revokes all again for the same key", AutomaticSignInMethods.revokeAll, breaks: ["AUTO-20"]) { service, request, context in
                var request = request
                request.idempotencyKey = ""
                return try await service.automaticSignIn.revokeAll(request, context: context)
            },
            mutant("does not lock", AutoSignInOperationsMethods.setAccountLock, breaks: ["AUTO-14", "AUTO-15", "AUTO-23"]) { _, _, _ in
                SetAccountLockResponse(wasKnown: true)
            },
            mutant("does not close accounts", AutoSignInOperationsMethods.closeAccount, breaks: ["AUTO-14", "AUTO-28"]) { _, _, _ in
                CloseAccountResponse(wasKnown: true)
            },
            mutant("ends no browser's session", AutomaticSignInMethods.endWebSession, breaks: ["AUTO-10"]) { _, _, _ in EndWebSessionResponse() },
            mutant("tells a status as it was first", AutomaticSignInMethods.getOptInStatus, breaks: ["AUTO-17"]) { service, request, context in
                guard case .device(let call) = request.caller?.who else {
                    return try await service.automaticSignIn.getOptInStatus(request, context: context)
                }
                if let known = first[call.deviceID] { return known }
                let status = try await service.automaticSignIn.getOptInStatus(request, context: context)
                first[call.deviceID] = status
                return status
            },
            mutant("forgets devices", AutomaticSignInMethods.getOptInStatus, breaks: ["AUTO-17"]) { service, request, context in
                var status = try await service.automaticSignIn.getOptInStatus(request, context: context)
                for index in status.families.indices { status.families[index].devices = [] }
                return status
            },
        ]
    }

    // MARK: Too strict

    private static var tooStrict: [AutoSignInMutant] {
        let (used, pending) = (Kept<Bool>(), Kept<String>())
        return [
            AutoSignInMutant(description: "has one family of an account", breaks: ["AUTO-9", "AUTO-22"], familiesPerAccount: 1),
            AutoSignInMutant(description: "lets an address redeem once a minute", breaks: ["AUTO-18"], redeemsPerMinute: 1),
            mutant("takes a value once", AutomaticSignInMethods.redeemToken, breaks: ["AUTO-18"]) { service, request, context in
                guard used[request.value] == nil else { throw Fault(.tokenReplayed, "The value was used.") }
                let redeemed = try await service.automaticSignIn.redeemToken(request, context: context)
                used[request.value] = true
                return redeemed
            },
            AutoSignInMutant(
                description: "takes only confirmed values", breaks: ["AUTO-18"], methods: ["IssueToken", "ConfirmStored", "RedeemToken"],
                register: { service, services in
                    services.unary(AutomaticSignInMethods.issueToken) { request, context in
                        let issued = try await service.automaticSignIn.issueToken(request, context: context)
                        pending[issued.value] = issued.familyID
                        return issued
                    }
                    services.unary(AutomaticSignInMethods.confirmStored) { request, context in
                        pending[request.familyID] = "confirmed"
                        return try await service.automaticSignIn.confirmStored(request, context: context)
                    }
                    services.unary(AutomaticSignInMethods.redeemToken) { request, context in
                        if let family = pending[request.value], pending[family] == nil { throw Fault(.tokenInvalid, "The value is not confirmed.") }
                        return try await service.automaticSignIn.redeemToken(request, context: context)
                    }
                }),
            mutant("revokes all families for one", AutomaticSignInMethods.revokeToken, breaks: ["AUTO-9"]) { service, request, context in
                let revoked = try await service.automaticSignIn.revokeToken(request, context: context)
                _ = try await service.automaticSignIn.revokeAll(RevokeAllRequest(caller: request.caller), context: context)
                return revoked
            },
            mutant("ends all families for one flagged session", AutomaticSignInMethods.flagSignIn, breaks: ["AUTO-22"]) {
                service, request, context in
                let revoked = try await service.automaticSignIn.flagSignIn(request, context: context)
                _ = try await service.automaticSignIn.revokeAll(RevokeAllRequest(caller: request.caller), context: context)
                return revoked
            },
            mutant("ends the session that stays", AutomaticSignInMethods.revokeAll, breaks: ["AUTO-27"]) { service, request, context in
                var request = request
                request.keepSessionID = ""
                return try await service.automaticSignIn.revokeAll(request, context: context)
            },
            mutant("ends a family to rotate its value", AutomaticSignInMethods.rotateToken, breaks: ["AUTO-21"]) { service, request, context in
                let rotation = try await service.automaticSignIn.rotateToken(request, context: context)
                let revoke = RevokeTokenRequest(caller: Caller(who: .backend(backend)), familyID: request.familyID)
                _ = try await service.automaticSignIn.revokeToken(revoke, context: context)
                return rotation
            },
        ]
    }

    // MARK: In the wrong order

    private static let disorderly = [
        mutant("lists devices oldest first", AutomaticSignInMethods.getOptInStatus, breaks: ["AUTO-17"]) { service, request, context in
            var status = try await service.automaticSignIn.getOptInStatus(request, context: context)
            for index in status.families.indices { status.families[index].devices.reverse() }
            return status
        },
        mutant("lists events oldest first", AutoSignInOperationsMethods.listSecurityEvents, breaks: ["AUTO-26"]) { service, request, context in
            SecurityEvents(events: try await service.operations.listSecurityEvents(request, context: context).events.reversed())
        },
        mutant("rotates what is being rotated", AutomaticSignInMethods.rotateToken, breaks: ["AUTO-21"]) { service, request, context in
            do {
                return try await service.automaticSignIn.rotateToken(request, context: context)
            } catch let fault as Fault where fault.code == .rotationInProgress {
                return Rotation(newVersion: 2, appleState: .queued)
            }
        },
    ]

    // MARK: For the wrong time

    private static let untimely = [
        mutant("issues values for an hour", AutomaticSignInMethods.issueToken, breaks: ["AUTO-25"]) { service, request, context in
            var issued = try await service.automaticSignIn.issueToken(request, context: context)
            issued.expiresAtMilliseconds -= 180 * 86_400_000 - 3_600_000
            return issued
        },
        mutant("has nonces for a day", SignInWithAppleMethods.createNonce, breaks: ["AUTO-25"]) { service, request, context in
            var nonce = try await service.signInWithApple.createNonce(request, context: context)
            nonce.expiresAtMilliseconds += 86_400_000
            return nonce
        },
        mutant("lets a browser in for a week", AutomaticSignInMethods.openWebLink, breaks: ["AUTO-25"]) { service, request, context in
            var session = try await service.automaticSignIn.openWebLink(request, context: context)
            session.expiresInSeconds = 604_800
            return session
        },
        mutant("makes web links for a day", AutomaticSignInMethods.createWebLink, breaks: ["AUTO-10"]) { service, request, context in
            var link = try await service.automaticSignIn.createWebLink(request, context: context)
            link.expiresInSeconds = 86_400
            return link
        },
        mutant("has sessions that outlast the login", AutomaticSignInMethods.redeemToken, breaks: ["AUTO-18"]) { service, request, context in
            var redeemed = try await service.automaticSignIn.redeemToken(request, context: context)
            redeemed.session?.expiresAtMilliseconds += 86_400_000
            return redeemed
        },
    ]
}
