internal import SandboxKit
internal import Hummingbird

/// Service providers, MVPDs and integrations under control.
struct VendorCatalogueControl: Sendable {
    private typealias Message = VendorControlMessages

    private struct Listing: Encodable {
        let serviceProviders: [VendorCatalogue.ServiceProvider]
        let mvpds: [VendorCatalogue.Mvpd]
        let integrations: [VendorCatalogue.Integration]
    }

    let memory: VendorMemory

    func add(to control: RouterGroup<SandboxContext>) {
        control.get("/catalogue") { _, _ in
            let catalogue = memory.access { $0.catalogue }
            return try ControlReader.json(
                Listing(serviceProviders: catalogue.serviceProviders, mvpds: catalogue.mvpds, integrations: catalogue.integrations))
        }
        control.put("/service-providers/{id}") { request, context in
            let message = try await ControlReader.read(Message.ServiceProvider.self, request)
            try set(serviceProvider: try context.parameters.require("id"), message)
            return HTTPResponse.Status.noContent
        }
        control.put("/mvpds/{id}") { request, context in
            let message = try await ControlReader.read(Message.Mvpd.self, request)
            try set(mvpd: try context.parameters.require("id"), message)
            return HTTPResponse.Status.noContent
        }
        control.put("/integrations/{serviceProvider}/{mvpd}") { request, context in
            let message = try await ControlReader.read(Message.Integration.self, request)
            let (serviceProvider, mvpd) = (try context.parameters.require("serviceProvider"), try context.parameters.require("mvpd"))
            try ControlReader.checked {
                try memory.access { state in
                    var integration =
                        state.catalogue.integration(serviceProvider, mvpd)
                        ?? VendorCatalogue.Integration(serviceProvider: serviceProvider, mvpd: mvpd)
                    try integration.change(message)
                    try state.catalogue.set(integration)
                }
            }
            return HTTPResponse.Status.noContent
        }
    }

    /// Sets what the message names; the rest stays.
    private func set(serviceProvider id: String, _ message: Message.ServiceProvider) throws {
        try ControlReader.checked {
            try memory.access { state in
                let old = state.catalogue.serviceProvider(id)
                try state.catalogue.set(
                    VendorCatalogue.ServiceProvider(
                        id: id, name: message.name ?? old?.name ?? id, domains: message.domains ?? old?.domains ?? [],
                        redirectHosts: message.redirectHosts ?? old?.redirectHosts ?? []))
            }
        }
    }

    private func set(mvpd id: String, _ message: Message.Mvpd) throws {
        try ControlReader.checked {
            if let terms = message.tempPass {
                try VendorBehaviour.check(terms.seconds, "tempPass.seconds", 1...31_536_000)
                try VendorBehaviour.check(terms.resources ?? 1, "tempPass.resources", 1...10_000)
            }
            try memory.access { state in
                let old = state.catalogue.mvpd(id)
                try state.catalogue.set(
                    VendorCatalogue.Mvpd(
                        id: id, displayName: message.displayName ?? old?.displayName ?? id, logoUrl: message.logoUrl ?? old?.logoUrl,
                        hasLogout: message.hasLogout ?? old?.hasLogout ?? false, tempPass: message.tempPass ?? old?.tempPass,
                        isProxy: message.isProxy ?? old?.isProxy ?? false, proxyMvpd: message.proxyMvpd ?? old?.proxyMvpd,
                        platformMappingId: message.platformMappingId ?? old?.platformMappingId,
                        boardingStatus: message.boardingStatus ?? old?.boardingStatus))
            }
        }
    }
}
