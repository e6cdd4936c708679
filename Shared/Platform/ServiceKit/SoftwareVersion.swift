/// What programs say of themselves.
public enum SoftwareVersion {
    /// In `hello`, in health reports and in `boxoffice_build_info`.
    public static let current = "0.1.0"

    /// `debug` for a program that was built for development, `release` for one whose figures count. A program is linked from modules of one build.
    public static let build: String = {
        #if DEBUG
        "debug"
        #else
        "release"
        #endif
    }()

    /// What `--version` prints; the same for all programs of one build.
    public static let description = "\(current) (\(build) build)"
}
