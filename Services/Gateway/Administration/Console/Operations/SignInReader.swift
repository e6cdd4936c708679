internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge

/// The latest sign-ins, as far as an administrator may see them: those of the requestors of the administrator's programmers.
struct SignInReader: Sendable {
    let operations: any AuthenticationOperations
    let catalogue: any CatalogueSource

    func reports(_ request: ListSignInReportsRequest, for administrator: Administrator, _ exchange: Exchange) async throws -> [SignInReport] {
        let found = try await operations.listSignInReports(request, context: exchange.call)
        return try found.reports.filter { try sees(administrator, $0) }
    }

    /// Of scheduled sign-ins.
    func scheduled(for administrator: Administrator, _ exchange: Exchange) async throws -> [ScheduledSignInState] {
        let found = try await operations.listScheduledSignIns(ListScheduledSignInsRequest(), context: exchange.call).signIns
        let catalogue = try catalogue.current()
        return found.filter { state in
            guard administrator.role != .operator else { return true }
            return catalogue.requestor(state.requestor).map { administrator.programmerIDs.contains($0.programmerID) } ?? false
        }
    }

    /// - Throws: `not_found`.
    func report(_ trace: String, for administrator: Administrator, _ exchange: Exchange) async throws -> SignInReport {
        let report = try await operations.getSignInReport(GetSignInReportRequest(traceID: trace), context: exchange.call)
        guard try sees(administrator, report) else { throw Fault(.notFound, "No sign-in of that trace id is remembered.") }
        return report
    }

    private func sees(_ administrator: Administrator, _ report: SignInReport) throws -> Bool {
        guard administrator.role != .operator else { return true }
        // The requestor of a test may be one that no version has.
        if report.isTest { return administrator.programmerIDs.contains { OctetText($0) == OctetText(report.programmerID) } }
        guard let requestor = try catalogue.current().requestor(report.requestor) else { return false }
        // One from before is of another programmer, who had the id.
        guard report.endedAtMilliseconds >= requestor.sinceMilliseconds else { return false }
        return administrator.programmerIDs.contains(requestor.programmerID)
    }
}
