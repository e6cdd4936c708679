internal import Contracts

/// The names of the method that most of the wire is tried with.
enum DiagnosticsEcho {
    static let service = DiagnosticsMethods.service
    static let method = DiagnosticsMethods.echo.name
}
