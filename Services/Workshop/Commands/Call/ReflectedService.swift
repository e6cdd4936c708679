internal import CommandKit
internal import ContractReflection
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import LoadTool
internal import Rpc

/// A service as it describes itself.
struct ReflectedService {
    let schema: ContractSchema
    /// Full protobuf names of what it offers.
    private let offered: [String]
    private let service: ClusterService

    /// Asks it.
    init(_ service: ClusterService, _ client: RpcClient, patience: Duration) async throws {
        let context = CallContext(deadline: .now.advanced(by: patience))
        let reflection = ReflectionClient(caller: client)
        offered = try await reflection.listServices(ListServicesRequest(), context: context).services
        let set = try await reflection.getDescriptorSet(GetDescriptorSetRequest(), context: context)
        do {
            schema = try ContractSchema(fileDescriptorSet: set.fileDescriptorSet)
        } catch {
            throw CommandFailure("\(service.rawValue) does not describe itself: \(PlainReason.of(error))")
        }
        self.service = service
    }

    private var services: [ServiceSchema] { schema.services.filter { offered.contains($0.name) } }

    /// - Parameter text: `Method`, `Service.Method` or `package.Service/Method`.
    /// - Throws: `OptionRejection` naming what there is.
    func method(_ text: String) throws(OptionRejection) -> MethodSchema {
        let found = schema.methods(named: text).filter { offered.contains($0.service) }
        guard let method = found.first else {
            throw OptionRejection(
                "'\(text)' is no method of \(service.rawValue)", "there are \(services.flatMap(\.methods).map(\.name).joined(separator: ", "))")
        }
        guard found.count == 1 else {
            throw OptionRejection(
                "'\(text)' means several methods", "give one of \(found.map { "\($0.service)/\($0.name)" }.joined(separator: ", "))")
        }
        return method
    }

    /// Every method with its messages.
    var listing: String {
        services.map { service in
            let width = service.methods.map(\.name.count).max() ?? 0
            let lines = service.methods.map { method in
                let name = method.name + String(repeating: " ", count: width - method.name.count)
                return "  \(name)  \(Self.short(method.request)) → \(method.isStream ? "stream of " : "")\(Self.short(method.response))"
            }
            return ([service.name] + lines).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private static func short(_ name: String) -> String { String(name.split(separator: ".").last ?? "") }
}

extension MethodSchema {
    var identity: MethodIdentity {
        let idempotency: Idempotency =
            switch idempotencyLevel {
            case 1: .noSideEffects
            case 2: .idempotent
            default: .unknown
            }
        return MethodIdentity(service: service, name: name, idempotency: idempotency)
    }
}
