/// A program was built in one of these ways, as far as its metrics tell.
public enum ServiceBuild: String, Codable, Sendable {
    /// For development: its speed is not representative.
    case debug
    case release
    /// It has no metrics, or they do not say.
    case unknown

    /// The warning for readers of figures of a debug build.
    public static let warning = "debug build: these figures say nothing about speed"

    /// - Parameter metrics: Prometheus text of the program: `boxoffice_build_info{version="0.1.0",build="release"} 1`.
    public init(metrics: String) {
        let sample = PrometheusText(metrics).samples.first { $0.name.utf8.elementsEqual("boxoffice_build_info".utf8) }
        self = sample?.labels["build"].flatMap(ServiceBuild.init) ?? .unknown
    }
}
