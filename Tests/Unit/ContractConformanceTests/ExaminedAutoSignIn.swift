import Clocks
import ContractConformance
import ContractRuntime
import Contracts
import Cryptography
import Doubles
import Foundation
import Logging
import OutboundHttp
import PeerDoubles
import Rpc
import Storage
import StorageSqlite
import Synchronization

@testable import AutoSignInService

/// The autosignin service of this checkout in this process, over a store in a file, with a mutant around it where there is one. Apple is away.
struct ExaminedAutoSignIn {
    private let authority: TestAuthority
    private let doubles: PeerDoubles
    private let mutant: AutoSignInMutant
    private let server: ExaminedServer
    private let key: String

    init(_ mutant: AutoSignInMutant = .none) async throws {
        authority = try TestAuthority()
        var behaviour = DoubleBehaviour()
        behaviour.signedIn = .afterSignIn
        doubles = try PeerDoubles(at: [:], configuration: try Self.catalogue(), behaviour: behaviour, pki: authority.pki)
        self.mutant = mutant
        key = Self.freshKey()
        server = try await ExaminedServer(
            .autosignin, try Self.services(mutant, doubles, file: Self.file(authority), key: key), doubles: doubles, authority: authority,
            patience: mutant.breaks.isEmpty ? .seconds(8) : .seconds(2))
    }

    /// - Returns: The verdict on each.
    func examine(_ ids: [String]) async -> [String: RequirementResult] {
        await server.examine(
            ids,
            restart: { [authority, doubles, mutant, key] in
                try Self.services(
                    mutant, doubles, file: Self.file(authority, isNew: mutant.losesStore), key: mutant.losesKey ? Self.freshKey() : key)
            })
    }

    private static func freshKey() -> String { SymmetricKey.random().hexRepresentation }

    private static func file(_ authority: TestAuthority, isNew: Bool = false) -> String {
        authority.folder.appending(path: isNew ? "\(UUID().uuidString).sqlite" : "autosignin.sqlite").path
    }

    private static func services(_ mutant: AutoSignInMutant, _ doubles: PeerDoubles, file: String, key: String) throws -> RpcServices {
        let settings = AutoSignInSettings(
            callbackURL: "https://boxoffice.example/callback", devicesURL: "https://boxoffice.example/devices", apple: AppleAddresses(),
            redeemsPerMinute: mutant.redeemsPerMinute, familiesPerAccount: mutant.familiesPerAccount)
        let service = AutoSignIn(
            settings, keys: try AutoSignInKeys(hex: key), secrets: "/nonexistent",
            store: AutoSignInStore(try Store(file: file, name: "autosignin", migrations: AutoSignInStore.migrations)),
            logins: LoginsDouble(over: doubles.authentication, changing: mutant.login), catalogue: DoubledCatalogue(config: doubles.config),
            transport: Unreachable(), clock: SystemClock(), logger: Logger(label: "examined") { _ in SwiftLogNoOpLogHandler() })
        var rest = RestOfServices(RpcServices(), replaced: mutant.methods)
        AutomaticSignInMethods.register(service.automaticSignIn, in: &rest)
        SignInWithAppleMethods.register(service.signInWithApple, in: &rest)
        AutoSignInOperationsMethods.register(service.operations, in: &rest)
        var services = rest.services
        mutant.register(service, &services)
        return services
    }

    private static func catalogue() throws -> Configuration {
        var configuration = try SampleCatalogue.configuration()
        let group = AppleAppGroup(id: "example.acme.tv", bundleIDs: ["example.acme.tv", "example.acme.sports"])
        configuration.programmers[0].appleTeams = [
            AppleTeam(
                teamID: "ACMETEAM01", signInKeyID: "ACMESIGN01", signInKeyReference: "sign-in.key", issuerID: "issuer-1",
                purchaseKeyID: "ACMEPURCH1", purchaseKeyReference: "purchase.key", groups: [group])
        ]
        for index in configuration.integrations.indices where configuration.integrations[index].mvpdID == "NorthCable" {
            configuration.integrations[index].autoSignIn = true
        }
        return configuration
    }
}

/// Apple, in a test without it.
private struct Unreachable: OutboundTransport {
    func send(_ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer {
        throw OutboundFailure(.notSent)
    }
}

extension LoginsDouble {
    /// - Parameter change: Changes the login of each caller that has one.
    fileprivate convenience init(over logins: any Logins, changing change: @escaping @Sendable (inout Login) -> Void) {
        self.init(over: logins)
        identifyCaller.answer { request, context in
            var caller = try await logins.identifyCaller(request, context: context)
            if var login = caller.login {
                change(&login)
                caller.login = login
            }
            return caller
        }
    }
}
