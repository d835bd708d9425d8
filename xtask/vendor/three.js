// The parts of three.js that the viewer uses; esbuild omits the rest.
export {
  ACESFilmicToneMapping, BatchedMesh, BufferAttribute, BufferGeometry, Color, DirectionalLight, DoubleSide, Fog, FrontSide,
  HemisphereLight, InstancedMesh, Matrix4, MeshPhysicalMaterial, MeshStandardMaterial, PCFShadowMap,
  PerspectiveCamera, Points, Quaternion, Raycaster, RepeatWrapping, SRGBColorSpace, Scene, ShaderMaterial, Texture,
  Vector2, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
